"""testbed: emulate a rack with real packets and try congestion control in it."""

__version__ = "0.1.0"
