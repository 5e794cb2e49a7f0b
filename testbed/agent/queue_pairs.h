/* SPDX-License-Identifier: Apache-2.0
 *
 * Queue pairs: whose controller state a message uses. Either every message opens one, or (`pair` is given) a message goes on in
 * one between the same two hosts in which nothing is left to send: with the rate, the window and the timer that there are. What
 * is on its way then still counts. Only if all are busy it opens another one.
 */
#ifndef TESTBED_QUEUE_PAIRS_H
#define TESTBED_QUEUE_PAIRS_H

#include "datapath.h"

/* The message that flow `f`'s queue pair sends now, or has sent last. */
static inline int64_t newest_message(const struct datapath *d, int64_t f)
{
	return d->flow[d->flow[f].opener].newest;
}

/* The message before `m` in its queue pair that is not over; -1 for none. */
static inline int64_t message_before(struct datapath *d, int64_t m)
{
	int64_t *before = &d->flow[m].before;

	while (*before >= 0 && !isnan(d->flow[*before].finished))
		*before = d->flow[*before].before;
	return *before;
}

/* Packets that flow `f`'s queue pair has on their way. */
static inline int64_t in_flight(struct datapath *d, int64_t f)
{
	int64_t packets = 0;

	if (!d->pair) /* it has no other message */
		return d->flow[f].inflight;
	for (int64_t m = newest_message(d, f); m >= 0; m = message_before(d, m))
		packets += d->flow[m].inflight;
	return packets;
}

/* Flow `f` starts. Returns whether it goes on in a queue pair that there is. */
static inline int goes_on(struct datapath *d, int64_t f)
{
	int64_t *q = d->pair ? &d->first_of_pair[d->pair[f]] : NULL;

	for (; q && *q >= 0; q = &d->flow[*q].next_pair) {
		int64_t last = d->flow[*q].newest;

		if (d->flow[last].to_send || d->decisions.of[*q] != d->decisions.of[f])
			continue;
		d->flow[f].opener = *q;
		d->flow[f].before = last;
		d->flow[f].sent_before = d->flow[last].sent_before + d->flow[last].sent;
		d->flow[f].last = d->flow[last].last;
		d->flow[*q].newest = f;
		return 1;
	}
	if (q)
		*q = f;
	return 0;
}

#endif
