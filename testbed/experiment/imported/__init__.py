"""Files of other tools, written as an experiment of ours."""
