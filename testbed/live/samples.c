// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

#include <string.h>

/* From now on a column has its samples, those before this included. */
static void begin_to_change(const struct samples *s, int64_t column)
{
	for (int64_t i = 0; i < s->length; i++)
		memcpy(s->memory + (column * s->room + i) * s->width, s->same + column * s->width,
		       (size_t)s->width * sizeof(double));
	s->changed[column] = 1;
}

void add_sample(struct samples *s, const double *sample)
{
	size_t size = (size_t)s->width * sizeof(double);

	if (!s->length)
		memcpy(s->same, sample, (size_t)s->columns * size);
	for (int64_t k = 0; k < s->columns; k++) {
		if (!s->changed[k] && memcmp(s->same + k * s->width, sample + k * s->width, size))
			begin_to_change(s, k);
		if (s->changed[k])
			memcpy(s->memory + (k * s->room + s->length) * s->width, sample + k * s->width, size);
	}
	s->length++;
}
