"""Several runs side by side: medians with intervals, dominance, gates, and the curves on top of each other."""
