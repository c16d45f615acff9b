"""Bags of graphs in a folder of Parquet files, as arrays: what stores read and `BagDataset.to_store` writes."""
