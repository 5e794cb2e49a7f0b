"""Controllers that Python writes and machine code runs: from a class to a library to the flows that it serves."""
