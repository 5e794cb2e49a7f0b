/* SPDX-License-Identifier: Apache-2.0
 *
 * With several lossless priorities each is paused by itself. A flow whose priority is paused waits at a gate, of which a
 * host has one per priority, and not in the queue for its host's line, where others would wait behind it.
 */
#ifndef TESTBED_GATES_H
#define TESTBED_GATES_H

#include "datapath.h"

/* Until when it is shut; 0 if it is open. A pause may be changed meanwhile, in good time: who waits looks every `relook`. */
static double shut_until(const struct datapath *d, int64_t gate, double now)
{
	const struct pause *pause = &d->pauses[d->pause_at[gate]];

	for (int64_t newest = 0; newest < 2; newest++) {
		double until = nominal(d, __atomic_load_n(&pause->span[newest].until, __ATOMIC_RELAXED));

		if (now < until && now >= nominal(d, __atomic_load_n(&pause->span[newest].from, __ATOMIC_RELAXED)))
			return fmin(until, now + d->relook);
	}
	return 0;
}

/* Whether the flow has to wait at its gate. */
static int waits_at_gate(struct datapath *d, int64_t f, double now)
{
	int64_t gate = d->gate ? d->gate[f] : -1;
	double until = gate < 0 ? 0 : shut_until(d, gate, now);

	if (until == 0)
		return 0;
	d->flow[f].queued = 1;
	d->flow[f].after = -1;
	if (d->first_held[gate] < 0)
		d->first_held[gate] = f;
	else
		d->flow[d->last_held[gate]].after = f;
	d->last_held[gate] = f;
	heap_set(&d->agenda, d->flows + d->hosts + gate, until);
	return 1;
}

/* Whether it has opened; if so, `first` is the first flow of those that waited there. */
static int gate_opens(struct datapath *d, int64_t gate, double now, int64_t *first)
{
	double until = shut_until(d, gate, now);

	if (until > 0) {
		heap_set(&d->agenda, d->flows + d->hosts + gate, until);
		return 0;
	}
	*first = d->first_held[gate];
	d->first_held[gate] = -1;
	return 1;
}

#endif
