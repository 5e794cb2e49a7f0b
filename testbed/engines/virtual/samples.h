/* SPDX-License-Identifier: Apache-2.0
 *
 * Series of flows and ports, taken without Python (sampler.py).
 */
#ifndef TESTBED_SAMPLES_H
#define TESTBED_SAMPLES_H

#include "world.h"
#include <string.h>

/* All that are due before the moment `until`. */
void take_samples(struct world *w, int64_t until)
{
	for (; w->sample_at[w->samples] < until; w->samples++) {
		for (int64_t i = 0; i < w->sampled_count; i++) {
			const struct sampled *s = &w->sampled[i];
			uint8_t *to = s->to + w->samples * s->count * s->width;

			for (int64_t k = 0; k < s->count; k++) {
				const uint8_t *from = s->from + s->rows[k] * s->stride;

				if (s->width == 8) /* most are, and a copy of known size is no call */
					memcpy(to + k * 8, from, 8);
				else
					memcpy(to + k * s->width, from, (size_t)s->width);
			}
		}
	}
}

#endif
