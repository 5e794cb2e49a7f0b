"""ADPG in fixed point for NVIDIA's DOCA PCC (`doca`, modelled by `fixed`)."""
