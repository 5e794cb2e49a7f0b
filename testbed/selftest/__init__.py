"""Breaks runs on purpose, to see that the verdict says so."""
