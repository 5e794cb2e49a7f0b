"""Controllers as programs for NICs: what is the same for all of them. A controller brings its own arithmetic in C."""
