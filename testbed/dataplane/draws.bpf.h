/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Draws that follow the run's seed, which the kernel's own generator does not: a hash of the seed and of what is drawn for.
 * So it is the same on whichever core and in whatever order packets come. In virtual time, where there is one order, `draw` is
 * the world's generator (bpf_helpers.h).
 */
#ifndef TESTBED_DRAWS_BPF_H
#define TESTBED_DRAWS_BPF_H

#ifndef draw
static __always_inline __u32 draw(__u32 seed, __u32 whom, __u32 number)
{
	__u32 x = seed;

	for (int i = 0; i < 2; i++) { /* MurmurHash3's finaliser: each bit of it changes half of the others */
		x = (x ^ (i ? number : whom)) + 0x9e3779b9u;
		x = (x ^ x >> 16) * 0x85ebca6bu;
		x = (x ^ x >> 13) * 0xc2b2ae35u;
		x ^= x >> 16;
	}
	return x;
}
#endif

#endif
