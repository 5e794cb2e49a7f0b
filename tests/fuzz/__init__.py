"""Fuzz targets: every command that reads what others wrote, fed with damaged files. See `__main__`."""
