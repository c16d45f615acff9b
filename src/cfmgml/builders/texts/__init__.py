"""Texts as bags of sentences, each a graph of keywords."""
