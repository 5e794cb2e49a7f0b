"""What a rack in virtual time may have at most; of no weight, for the command line reads it."""

MOST_PARTS = 64  # of a rack, and threads that work for them; parts.h gets it from build.py
