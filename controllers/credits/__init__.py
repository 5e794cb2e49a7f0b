"""Receivers that grant what is sent to them."""
