"""Compiled controllers as C99 against testbed_cc.h, written from their Python."""
