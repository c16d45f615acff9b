"""More bags than memory holds: partitioned data sets on disk, in Parquet."""

from cfmgml.stores.store import BagStore, is_store

__all__ = ["BagStore", "is_store"]
