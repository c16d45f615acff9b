"""More bags than memory holds: partitioned data sets on disk, in Parquet."""

from cfmgml.stores.building import BagStream, build_store
from cfmgml.stores.store import BagStore, is_store

__all__ = ["BagStore", "BagStream", "build_store", "is_store"]
