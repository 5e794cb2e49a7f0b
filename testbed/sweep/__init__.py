"""Many runs of one experiment: every combination of controllers, tuners and settings, repeated, in random order."""
