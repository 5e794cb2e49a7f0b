"""Any compiled controller as a program for DOCA PCC: written from its Python as ``c/`` writes C99, without floats."""
