"""The virtual engine: the rack's own programs in a discrete-event loop, in time of their own."""
