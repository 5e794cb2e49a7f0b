/* SPDX-License-Identifier: Apache-2.0
 *
 * Series of flows and ports, taken without Python (sampler.py).
 */
#ifndef TESTBED_SAMPLES_H
#define TESTBED_SAMPLES_H

#include "world.h"
#include <string.h>

static void copy_elements(const struct sampled *s, uint8_t *to)
{
	for (int64_t k = 0; k < s->count; k++)
		memcpy(to + k * s->width, s->from + s->rows[k] * s->stride, (size_t)s->width);
}

static void copy_words(const struct sampled *s, uint8_t *to)
{
	for (int64_t k = 0; k < s->count; k++) /* a copy of known size is no call */
		memcpy(to + k * 8, s->from + s->rows[k] * s->stride, 8);
}

static void copy_as_double(const struct sampled *s, uint8_t *to)
{
	for (int64_t k = 0; k < s->count; k++)
		((double *)to)[k] = (double)*(const int64_t *)(s->from + s->rows[k] * s->stride);
}

/* All that are due before the moment `until`. */
void take_samples(struct world *w, int64_t until)
{
	for (; w->sample_at[w->samples] < until; w->samples++) {
		for (int64_t i = 0; i < w->sampled_count; i++) {
			const struct sampled *s = &w->sampled[i];
			uint8_t *to = s->to + w->samples * s->count * s->width;

			if (s->as_double)
				copy_as_double(s, to);
			else if (s->width == 8) /* most are */
				copy_words(s, to);
			else
				copy_elements(s, to);
		}
	}
}

#endif
