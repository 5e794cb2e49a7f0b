/* SPDX-License-Identifier: Apache-2.0
 *
 * What pace.c decides to send, batch.c sends.
 */
#ifndef TESTBED_BATCH_H
#define TESTBED_BATCH_H

#include "datapath.h"

int64_t most_at_once(const struct datapath *d);
void add_to_batch(struct datapath *d, struct segment p, double now);
void hand_over(struct datapath *d, int64_t host, double now);

/* The flow's next packet is due then. */
static inline void due_at(struct datapath *d, int64_t f, double time)
{
	d->next[f] = time;
	heap_set(&d->agenda, f, time);
}

#endif
