/* SPDX-License-Identifier: Apache-2.0
 *
 * From the ring buffers to one row of feedback per flow: feedback.c. It owns the rings, the rows, and what INT has said before.
 */
#ifndef TESTBED_FEEDBACK_H
#define TESTBED_FEEDBACK_H

#include <stdint.h>

struct datapath;
struct ring;

double next_due(struct datapath *d);
double next_received(struct datapath *d);
void see_received(struct datapath *d, double now);
int64_t read_ring(struct datapath *d, struct ring *ring, int64_t rows, double now);
void end_rows(struct datapath *d, int64_t rows);
int64_t read_feedback(struct datapath *d, double now);

#endif
