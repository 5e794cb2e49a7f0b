/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording the calls of a controller per flow: testbed/results/trace.py has the form. Here every call is about one flow.
 */
#ifndef TESTBED_TRACE_H
#define TESTBED_TRACE_H

#include <stdint.h>
#include <string.h>

#include "../compiled/decide.h"

enum call { START, FEEDBACK, TIMEOUT, SENT, TIMER, SRC };

/* Mirrored in structs.py. */
struct trace {
	int64_t *words, *headers, *state; /* state: calls, and whether there were more */
	int64_t at, left;		  /* the first free word, and rows that still fit; -1: none will be recorded */
	void (*full)(void);		  /* makes room, if it can; NULL where nobody does */
};

static inline int64_t bits(double value)
{
	int64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

/* Whether there is room for a call. */
static inline int has_room(struct trace *t)
{
	if (!t->left && t->full)
		t->full();
	if (!t->left) {
		t->state[1] = 1;
		t->left = -1; /* what comes after a gap is of no use */
	}
	return t->left > 0;
}

/*
 * A call about a flow was made, which was told `length` words behind the flow's number: returns where they belong. `hops` is
 * -1 without INT.
 */
static inline int64_t *add_call(struct trace *t, int64_t kind, double now, const struct decided *decided, int64_t flow,
				int64_t length, int64_t hops)
{
	int64_t *words = t->words + t->at, *header = t->headers + 5 * t->state[0];

	header[0] = bits(now), header[1] = t->at, header[2] = kind, header[3] = 1, header[4] = hops;
	words[0] = bits(decided->rate), words[1] = bits(decided->window), words[2] = bits(decided->timer), words[3] = flow;
	t->at += 4 + length;
	t->left--;
	t->state[0]++;
	return words + 4;
}

#define TOLD 11

/* Feedback is told as so many numbers, the last of which is the RTT, and the INT records column by column. */
static inline void record_feedback(struct trace *t, int64_t kind, double now, const struct decided *decided,
				   int64_t flow, const struct cc_ack *ack, int64_t cnps, int64_t lost, int with_int)
{
	const int64_t numbers[TOLD] = {ack->packets, ack->bytes, ack->ce_packets, ack->inc_packets, cnps, lost,
				       ack->hop_count, ack->seq, ack->next_seq, ack->inflight, bits(ack->rtt)};
	int64_t hops = with_int ? (ack->hop_count > 1 ? ack->hop_count : 1) : 0;
	int64_t *told = add_call(t, kind, now, decided, flow, TOLD + 5 * hops, with_int ? hops : -1);

	memcpy(told, numbers, sizeof(numbers));
	for (int64_t i = 0; i < hops; i++) {
		const struct cc_hop *hop = ack->hops + i;
		const int64_t words[] = {hop->node, bits(hop->ts), bits(hop->tx_bytes), bits(hop->queue), bits(hop->rate)};

		for (int64_t k = 0; k < 5; k++)
			told[TOLD + k * hops + i] = words[k];
	}
}

#endif
