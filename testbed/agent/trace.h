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

/* A call about a flow was made; `told` has what it was told behind the flow's number, `hops` is -1 without INT. */
static inline void record_call(struct trace *t, int64_t kind, double now, const struct decided *decided, int64_t flow,
			       const int64_t *told, int64_t length, int64_t hops)
{
	int64_t header[] = {bits(now), t->at, kind, 1, hops};
	int64_t head[] = {bits(decided->rate), bits(decided->window), bits(decided->timer), flow};

	memcpy(t->words + t->at, head, sizeof(head));
	memcpy(t->words + t->at + 4, told, (size_t)length * sizeof(*told));
	memcpy(t->headers + 5 * t->state[0], header, sizeof(header));
	t->at += 4 + length;
	t->left--;
	t->state[0]++;
}

#define TOLD 11

/* Feedback is told as so many numbers, the last of which is the RTT, and the INT records column by column. */
static inline void record_feedback(struct trace *t, int64_t kind, double now, const struct decided *decided,
				   int64_t flow, const struct ack *ack, int64_t cnps, int64_t lost, int with_int)
{
	int64_t told[TOLD + 5 * MOST_HOPS] = {ack->packets, ack->bytes, ack->ce_packets, ack->inc_packets, cnps, lost,
					      ack->hop_count, ack->seq, ack->next_seq, ack->inflight, bits(ack->rtt)};
	int64_t hops = with_int ? (ack->hop_count > 1 ? ack->hop_count : 1) : 0;

	for (int64_t i = 0; i < hops; i++) {
		const struct hop *hop = ack->hops + i;
		const int64_t words[] = {hop->node, bits(hop->ts), bits(hop->tx_bytes), bits(hop->queue), bits(hop->rate)};

		for (int64_t k = 0; k < 5; k++)
			told[TOLD + k * hops + i] = words[k];
	}
	record_call(t, kind, now, decided, flow, told, TOLD + 5 * hops, with_int ? hops : -1);
}

#endif
