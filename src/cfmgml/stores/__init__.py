"""More bags than memory holds: partitioned data sets on disk, in Parquet."""

from cfmgml.stores.store import BagStore

__all__ = ["BagStore"]
