"""More bags than memory holds: partitioned data sets on disk, in Parquet."""

from cfmgml.data.streams import BagStream
from cfmgml.stores.building import build_store
from cfmgml.stores.store import BagStore, is_store

__all__ = ["BagStore", "BagStream", "build_store", "is_store"]
