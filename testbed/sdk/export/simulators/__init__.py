"""Classes of simulators around a controller in C."""
