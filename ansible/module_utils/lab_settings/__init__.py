"""Settings of a RoCE host: read, compared, written in a safe order, read back, and put back.

Standard library only: the modules in ``library/`` carry it to hosts, and `install` leaves it there for the dead man's
switch, which must work when nobody can reach the host any more.
"""
