"""One number for a controller, with its parts, over a fixed set of experiments in virtual time."""
