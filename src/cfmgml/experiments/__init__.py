"""Experiments: protocols, tables and pages."""
