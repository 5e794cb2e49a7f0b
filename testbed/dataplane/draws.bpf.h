/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Draws that follow the run's seed, which the kernel's own generator does not: a hash of the seed and of what is drawn for.
 * So it is the same on whichever core and in whatever order packets come.
 */
#ifndef TESTBED_DRAWS_BPF_H
#define TESTBED_DRAWS_BPF_H

static __always_inline __u32 draw(__u32 seed, __u32 whom, __u32 number)
{
	__u64 x = ((__u64)whom << 32 | number) + (seed + 1ull) * 0x9e3779b97f4a7c15ull;

	/* SplitMix64's finaliser (Steele et al., OOPSLA 2014): numbers in a row are as good as any */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (x ^ x >> 31) >> 32;
}

#endif
