/* SPDX-License-Identifier: Apache-2.0
 *
 * Ports with several queues: which packet goes next on a line that is free. Strict queues first, of several the one with
 * the higher number; then deficit round robin (Shreedhar and Varghese, SIGCOMM 1995), whose quanta are the weights.
 */
#ifndef TESTBED_SCHEDULER_H
#define TESTBED_SCHEDULER_H

#include "packets.h"

/* What all ports of the rack have in common. Mirrored in structs.py. */
struct scheduler {
	int64_t strict; /* bits of queues */
	int64_t quantum[QUEUES]; /* bytes, of each round */
};

/* The queues of one line. Mirrored in structs.py. */
struct queues {
	struct fifo waiting[QUEUES];
	int64_t deficit[QUEUES]; /* bytes that a queue may still send in its turn */
	int64_t waits; /* bits of queues in which packets wait */
	int64_t turn;
} __attribute__((aligned(CACHE_LINE)));

static void join_queue(struct queues *q, int64_t number, struct packet *p)
{
	append(&q->waiting[number], p);
	q->waits |= 1 << number;
}

/* The first queue behind that one, round and round, of those that may send. */
static int64_t next_in_turn(int64_t ready, int64_t turn)
{
	int64_t behind = ready & -(2ll << turn);

	return __builtin_ctzll((uint64_t)(behind ? behind : ready));
}

/* Of the queues that may send, of which there is one, the one whose turn it is; its turn goes on while it may send. */
static int64_t choose_by_deficit(struct queues *q, const struct scheduler *s, int64_t ready)
{
	while (!(ready >> q->turn & 1) || q->deficit[q->turn] < q->waiting[q->turn].first->length) {
		q->turn = next_in_turn(ready, q->turn);
		q->deficit[q->turn] += s->quantum[q->turn];
	}
	q->deficit[q->turn] -= q->waiting[q->turn].first->length;
	return q->turn;
}

/* Take the packet that goes next, of queues among `ready`; NULL for none. */
static struct packet *next_packet(struct queues *q, const struct scheduler *s, int64_t ready)
{
	int64_t strict, number;
	struct packet *p;

	ready &= q->waits;
	if (!ready)
		return NULL;
	strict = ready & s->strict;
	number = strict ? 63 - __builtin_clzll((uint64_t)strict) : choose_by_deficit(q, s, ready);
	p = take(&q->waiting[number]);
	if (!q->waiting[number].first) {
		q->waits &= ~(1ll << number);
		q->deficit[number] = 0; /* who has nothing to send saves nothing */
	}
	return p;
}

/* What a packet that leaves a port's queue has taken of its switch's memory. */
static void give_back_memory(struct world *w, const struct line *l, struct packet *p)
{
	struct roce *packet = (struct roce *)p->bytes;

	if (p->whole) /* of RoCE alone is known where it came in */
		return;
	leave_memory(w->class_table, packet, p->length, row_of(w->class_table, (uint32_t)l->from, p->queue));
	packet->shim.ingress = 0; /* the next switch says where it came in there */
}

#endif
