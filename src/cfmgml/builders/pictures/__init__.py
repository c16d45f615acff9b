"""Photos as bags of regions, each a graph of superpixels."""
