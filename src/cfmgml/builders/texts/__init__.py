"""Texts as bags of sentences, each a graph of words; and what describes those by vectors, one's own encoders too."""

from cfmgml.builders.texts.descriptions import WordDescription, register_description
from cfmgml.builders.texts.encoded_words import EncodedWords

__all__ = ["EncodedWords", "WordDescription", "register_description"]
