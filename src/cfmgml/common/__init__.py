"""What every room may use: arrays over segments, files, digests, what may be printed. Knows nothing of graphs."""
