"""Controllers as programs for DOCA PCC: their arithmetic in C, the same in Python, and the options of the export."""
