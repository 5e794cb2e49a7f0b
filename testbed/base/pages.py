"""Memory in large pages: each costs a fraction of the small ones that it stands for, and of the TLB one entry."""

from __future__ import annotations

import mmap


def large_pages(size: int) -> mmap.mmap:
    """So many bytes of address space, all zero; memory is taken as it is used."""
    pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages
