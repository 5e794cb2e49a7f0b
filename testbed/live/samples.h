/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of samples: samples.py, which mirrors this.
 */
#ifndef TESTBED_SAMPLES_H
#define TESTBED_SAMPLES_H

#include <stdint.h>

struct samples {
	double *memory, *same; /* [column][room][width], and of columns that have not changed [column][width] */
	int64_t *changed;      /* [column] */
	int64_t columns, width, room, length;
};

/* Add one, for which there is room: `sample` is [column][width]. */
void add_sample(struct samples *samples, const double *sample);

#endif
