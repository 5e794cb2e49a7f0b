"""A Linux box as a switch: the rack's port program on its interfaces, with thresholds that are set from outside."""
