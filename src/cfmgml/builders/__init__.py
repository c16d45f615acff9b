"""Kinds of input: each knows how its raw things become bags, and how such a bag is drawn."""
