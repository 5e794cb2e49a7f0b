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

static inline int64_t bin_of_time(double time, int64_t bins, int64_t per_octave)
{
	int64_t bin = time > SMALLEST ? (int64_t)(log2(time / SMALLEST) * (double)per_octave) : 0;

	return bin < bins ? bin : bins - 1;
}

/* Returns the bin. */
static inline int64_t count(struct histogram *h, double time)
{
	int64_t bin = bin_of_time(time, h->bins, h->per_octave);

	h->counts[bin]++;
	if (time > *h->top)
		*h->top = time;
	if (time < *h->bottom)
		*h->bottom = time;
	return bin;
}

#endif
