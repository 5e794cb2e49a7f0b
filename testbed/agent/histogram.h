/* SPDX-License-Identifier: Apache-2.0
 *
 * Times, counted in bins whose widths grow with them.
 */
#ifndef TESTBED_HISTOGRAM_H
#define TESTBED_HISTOGRAM_H

#include <math.h>
#include <stdint.h>

#define SMALLEST 1e-12

struct histogram {
	int64_t *counts;
	double *top, *bottom; /* the largest and the smallest so far */
	int64_t bins, per_octave;
};

/* Returns the bin. */
static inline int64_t count(struct histogram *h, double time)
{
	int64_t bin = time > SMALLEST ? (int64_t)(log2(time / SMALLEST) * (double)h->per_octave) : 0;

	if (bin >= h->bins)
		bin = h->bins - 1;
	h->counts[bin]++;
	if (time > *h->top)
		*h->top = time;
	if (time < *h->bottom)
		*h->bottom = time;
	return bin;
}

#endif
