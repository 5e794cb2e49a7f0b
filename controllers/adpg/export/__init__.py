"""ADPG as C: portable with doubles (`c`), and in fixed point for NVIDIA's DOCA PCC (`doca`, modelled by `fixed`)."""
