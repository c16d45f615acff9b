"""Tables, for the modules of this room."""

from cfmgml.common.tables import Row, read_table, stream_table
from cfmgml.common.tables import format_of as table_suffix

__all__ = ["Row", "read_table", "stream_table", "table_suffix"]
