// SPDX-License-Identifier: Apache-2.0
#include "recovery.h"

#include "datapath.h"
#include "memory.h"
#include "messages.h"
#include "paths.h"

#include <stddef.h>
#include <stdlib.h>

#define OVERDUE 4 /* longest RTTs; as in paths.c */

static struct sending *sending_of(const struct datapath *d, int64_t f, int64_t number)
{
	return &d->transport.pairs[f].sendings[number & (d->transport.bitmap - 1)];
}

/* Packets that the flow may send if its window lets it: what a receiver could not keep, waits. */
int64_t sendable(const struct datapath *d, int64_t f)
{
	const struct flow *flow = &d->flow[f];
	const struct queue_pair *q = &d->transport.pairs[f];
	int64_t fresh = flow->to_send - q->lost, fits;

	if (d->transport.recovery != SELECTIVE_REPEAT)
		return flow->to_send;
	fits = flow->expected + d->transport.bitmap - flow->sent;
	return q->lost + (fresh < fits ? fresh : fits);
}

/* The number of the flow's next packet. Of `packets` in a row, fewer may be left. */
int64_t next_number(struct datapath *d, int64_t f, int64_t *packets)
{
	struct queue_pair *q = &d->transport.pairs[f];
	int64_t number = d->flow[f].sent, run = 1;

	if (!q->lost)
		return number;
	for (number = q->first_lost; !sending_of(d, f, number)->lost; number++)
		;
	q->first_lost = number;
	while (run < q->lost && run < *packets && sending_of(d, f, number + run)->lost)
		run++;
	*packets = run;
	return number;
}

/* They leave. */
void note_departure(struct datapath *d, int64_t f, int64_t number, int64_t packets, double now)
{
	struct flow *flow = &d->flow[f];
	struct queue_pair *q = &d->transport.pairs[f];

	if (d->transport.recovery == SELECTIVE_REPEAT && !q->sendings)
		q->sendings = needed(calloc((size_t)d->transport.bitmap, sizeof(*q->sendings)));
	for (int64_t n = number; q->sendings && n < number + packets; n++) {
		struct sending *s = sending_of(d, f, n);

		*s = (struct sending){.time = now, .order = flow->sent + flow->again + n - number};
	}
	messages_begin(d, f, number, packets, now);
	if (number < flow->sent) {
		q->lost -= packets;
		flow->again += packets;
	} else {
		flow->sent += packets;
	}
}

/* The last of what was to leave has not. */
void not_sent(struct datapath *d, int64_t f, int64_t number, int64_t packets)
{
	struct flow *flow = &d->flow[f];
	struct queue_pair *q = &d->transport.pairs[f];

	if (number + packets == flow->sent && !q->sendings) {
		flow->sent -= packets;
		return;
	}
	for (int64_t n = number; n < number + packets; n++)
		sending_of(d, f, n)->lost = 1;
	q->lost += packets;
	q->first_lost = number < q->first_lost || q->lost == packets ? number : q->first_lost;
	flow->again -= packets; /* it will count again */
}

/* Bytes of packets [from, to), as frames; one of them may be short. */
static struct progress acknowledged(const struct datapath *d, int64_t f, int64_t from, int64_t to)
{
	const struct flow *flow = &d->flow[f];
	int64_t packets = to - from, full = d->segment_size + (int64_t)offsetof(struct roce, opcode);
	int64_t cut = flow->short_size && flow->short_at >= from && flow->short_at < to; /* one is not full */

	return (struct progress){
		.packets = packets,
		.frame = packets * full - cut * (d->segment_size - padded(flow->short_size)),
		.payload = packets * d->payload - cut * (d->segment_size - flow->short_size),
	};
}

static void add(struct progress *sum, struct progress one)
{
	sum->packets += one.packets;
	sum->frame += one.frame;
	sum->payload += one.payload;
}

/* What is before `number` has arrived: returns what nothing had acknowledged. */
static struct progress move_up(struct datapath *d, int64_t f, int64_t number)
{
	struct flow *flow = &d->flow[f];
	struct queue_pair *q = &d->transport.pairs[f];
	struct progress all = {0};

	if (d->transport.recovery == GO_BACK_N) {
		int64_t skipped = number - flow->sent;

		all = acknowledged(d, f, flow->expected, number);
		if (skipped > 0) { /* it had gone back, and need not have */
			flow->sent += skipped;
			flow->again -= skipped;
			flow->to_send -= skipped;
			flow->inflight += skipped;
			flow->lost -= skipped;
			flow->late += skipped;
		}
		flow->expected = number;
		flow->inflight -= all.packets;
		return all;
	}
	for (; flow->expected < number; flow->expected++) {
		struct sending *s = sending_of(d, f, flow->expected);

		if (s->arrived)
			continue;
		add(&all, acknowledged(d, f, flow->expected, flow->expected + 1));
		if (s->lost) {
			q->lost--;
			flow->to_send--;
			flow->lost--;
			flow->late++;
		} else {
			flow->inflight--;
		}
	}
	if (q->first_lost < number)
		q->first_lost = number;
	return all;
}

/* The flow goes back to what is oldest; what it has sent since counts as lost. */
static int64_t go_back(struct flow *flow)
{
	int64_t packets = flow->sent - flow->expected;

	flow->sent = flow->expected;
	flow->again += packets;
	flow->lost += packets;
	flow->to_send += packets;
	flow->inflight = 0;
	return packets;
}

static void lose(struct datapath *d, int64_t f, int64_t number, int64_t event, double now)
{
	struct queue_pair *q = &d->transport.pairs[f];

	sending_of(d, f, number)->lost = 1;
#if MANY_PATHS
	tell_path(d, f, number, event, NULL, now);
#else
	(void)event, (void)now;
#endif
	if (!q->lost++ || number < q->first_lost)
		q->first_lost = number;
	d->flow[f].lost++;
	d->flow[f].to_send++;
	d->flow[f].inflight--;
}

/* Packet `number` has come before others: returns how many of those are lost. */
static int64_t keep(struct datapath *d, int64_t f, int64_t number, struct progress *p, double now)
{
	struct sending *here = sending_of(d, f, number);
	double overdue = MANY_PATHS ? fmin(OVERDUE * d->transport.pairs[f].longest, d->transport.timeout) : 0;
	int64_t lost = 0;

	if (number < d->flow[f].expected || number >= d->flow[f].sent) /* a NAK that others have overtaken */
		return 0;
	if (!here->arrived) {
		add(p, acknowledged(d, f, number, number + 1));
		here->arrived = 1;
		if (here->lost) {
			d->transport.pairs[f].lost--;
			d->flow[f].to_send--;
			d->flow[f].lost--;
			d->flow[f].late++;
			here->lost = 0;
		} else {
			d->flow[f].inflight--;
		}
	}
	for (int64_t n = d->flow[f].expected; n < number; n++) {
		const struct sending *s = sending_of(d, f, n);

		if (s->arrived || s->lost || s->order > here->order || (overdue > 0 && now - s->time < overdue))
			continue;
		lose(d, f, n, CHOOSE_LOSS, now);
		lost++;
	}
	return lost;
}

/*
 * Of packet `number`, as it left at `left`, only the headers have come; returns how many are lost by that. If it was sent again
 * meanwhile, that is not what was trimmed.
 */
static int64_t trimmed(struct datapath *d, int64_t f, int64_t number, double left, double now)
{
	struct flow *flow = &d->flow[f];
	const struct sending *s;

	flow->trims++;
	flow->last_feedback = now;
	d->transport.pairs[f].tries = 0;
	if (number < flow->expected || number >= flow->sent)
		return 0;
	s = sending_of(d, f, number);
	if (s->arrived || s->lost || s->time > left + SMALLEST)
		return 0;
	lose(d, f, number, CHOOSE_LOSS, now);
	return 1;
}

/* An ACK or a NAK of flow `f`, whose packet took `rtt`; it was `due` to be read. */
struct progress recover(struct datapath *d, int64_t f, const struct record *r, double rtt, double due, double now)
{
	struct flow *flow = &d->flow[f];
	struct queue_pair *q = &d->transport.pairs[f];
	int64_t next = flow->expected + ((int32_t)((r->psn + (r->opcode == BTH_ACK) - (uint32_t)flow->expected) << 8) >> 8);
	struct progress p = {0};

	if (r->opcode == AETH_TRIMMED) {
		flow->acked--; /* whoever reads the ring counts one */
		flow->covered--;
		p.lost = trimmed(d, f, next, nominal(d, r->tx_ns), now);
		return p;
	}
	q->longest = fmax(q->longest, rtt);
#if MANY_PATHS
	tell_path(d, f, r->opcode == BTH_ACK ? flow->expected : next + r->payload, CHOOSE_ACK,
		  &(struct cc_ack){.now = now, .packets = 1, .rtt = rtt, .ce_packets = !!(r->flags & SHIM_CE)}, now);
	if (r->opcode == AETH_NAK && d->transport.recovery == GO_BACK_N && next >= flow->expected)
		tell_path(d, f, next, CHOOSE_LOSS, NULL, now);
#endif
	if (next > flow->expected) {
		messages_done(d, f, flow->expected, next, due);
		p = move_up(d, f, next);
	}
	if (r->opcode == AETH_NAK) {
		flow->naks++;
		if (d->transport.recovery == GO_BACK_N && next == flow->expected)
			p.lost = go_back(flow);
		else if (d->transport.recovery == SELECTIVE_REPEAT && r->payload)
			p.lost = keep(d, f, next + r->payload, &p, now);
	}
	flow->acked += p.packets - 1; /* whoever reads the ring counts one */
	flow->covered += p.packets - 1;
	if (p.packets) {
		p.ce = r->flags & SHIM_CE ? r->frame : 0;
		q->tries = 0;
		flow->last_feedback = now;
	}
	return p;
}

/* Nothing has come back from these flows for a whole timeout. After too many of those a queue pair gives up. */
void send_again(struct datapath *d, const int64_t *flows, int64_t n, double now)
{
	for (int64_t i = 0; i < n; i++) {
		struct flow *flow = &d->flow[flows[i]];
		struct queue_pair *q = &d->transport.pairs[flows[i]];

#if MANY_PATHS
		if (d->transport.recovery == GO_BACK_N)
			tell_path(d, flows[i], flow->expected, CHOOSE_TIMEOUT, NULL, now);
#endif
		if (d->transport.recovery == GO_BACK_N)
			go_back(flow);
		for (int64_t number = flow->expected; q->sendings && number < flow->sent; number++) {
			const struct sending *s = sending_of(d, flows[i], number);

			if (!s->arrived && !s->lost)
				lose(d, flows[i], number, CHOOSE_TIMEOUT, now);
		}
		q->tries++;
		if (d->transport.retries >= 0 && q->tries > d->transport.retries) {
			flow->started = 0;
			d->transport.in_error++;
		}
	}
}
