"""Published comparisons of controllers as data files, and running them here: what `testbed reproduce` does."""
