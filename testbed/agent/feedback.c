// SPDX-License-Identifier: Apache-2.0
/*
 * From the ring buffer to one row of feedback per flow.
 *
 * Where the kernel has no netem, a record is delivered `delay` seconds after it arrived (the delay line) and that time is
 * part of the RTT; until then it stays in the ring. Where a flow has one path its packets do not overtake each other in the
 * network, so a gap in the acknowledged packet numbers is a loss. The cores of this machine may swap two of them, though:
 * what fills a gap and is already in the ring is taken first. With many paths a map of packets says what is lost (paths.h).
 * A packet that is acknowledged after it was declared lost counts as late, and is not lost.
 */
#include "feedback.h"
#include "credits.h"
#include "datapath.h"
#include "grants.h"
#include "paths.h"
#include "recovery.h"
#include "schedule.h"
#include "tasks.h"
#include "tell.h"

#define BUSY 0xc0000000u
#define HALF 0x800000 /* packet numbers have 24 bits: the nearer half is ahead, the other behind */

/* When the oldest waiting feedback is due; inf for none. */
double next_due(struct datapath *d)
{
	double earliest = INFINITY;

	for (int64_t i = 0; i < d->ring_count; i++) {
		const struct ring *ring = &d->rings[i];
		uint64_t position = *ring->consumer;
		const struct record *r = record_at(ring, position);

		if (position < __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE))
			earliest = fmin(earliest, nominal(d, r->rx_ns) + ring->delay);
	}
	return earliest;
}

/* The oldest record that was not looked at yet; NULL for none, or if another core is still writing it. */
static const struct record *unseen(const struct ring *ring)
{
	const uint8_t *slot = ring->data + (ring->looked_at & ring->mask);

	if (ring->looked_at >= __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n((const uint32_t *)slot, __ATOMIC_ACQUIRE) & BUSY)
		return NULL;
	return (const struct record *)(slot + HEADER);
}

/* When the receiver had the packet: a delay line's links take no time by themselves. */
static double received_at(const struct datapath *d, const struct record *r)
{
	return nominal(d, r->rx_ns) + d->tasks->one_way[r->flow];
}

/* When the oldest packet that was not looked at yet has been received, which is long before its feedback is due. */
double next_received(struct datapath *d)
{
	double earliest = INFINITY;

	for (int64_t i = 0; i < d->ring_count && d->tasks; i++) {
		const struct record *r = d->rings[i].delay > 0 ? unseen(&d->rings[i]) : NULL;

		if (r)
			earliest = fmin(earliest, received_at(d, r));
	}
	return earliest;
}

/* Whether it says that the receiver has all of its flow now. */
static int is_last(const struct datapath *d, const struct record *r)
{
	struct tasks *t = d->tasks;

	if (r->opcode != BTH_ACK)
		return 0;
	if (numbered(d))
		return !((r->psn + 1 - (uint32_t)t->packets[r->flow]) & 0xffffff);
	return ++t->received[r->flow] == t->packets[r->flow];
}

static void look_at(struct datapath *d, struct ring *ring, double now)
{
	const struct record *r;

	for (; (r = unseen(ring)) && received_at(d, r) <= now; ring->looked_at += HEADER + sizeof(*r))
		if (is_last(d, r))
			flow_done(d->tasks, r->flow, received_at(d, r));
}

/* What waits for flows need not wait for feedback that a delay line delays. */
void see_received(struct datapath *d, double now)
{
	for (int64_t i = 0; i < d->ring_count && d->tasks; i++)
		if (d->rings[i].delay > 0)
			look_at(d, &d->rings[i], now);
}

/* INT must come from the same nodes in the same order, with time and bytes that only grow. Other nodes are right only
 * where the rack's routes have changed. Packets that two cores swapped passed some of the switches in one order and some
 * in the other, so that neither order is that of all stamps. */
static void check_hops(struct datapath *d, int64_t f, const struct record *r, int swapped)
{
	int wrong = r->hops != d->flow[f].hops && !d->flow[f].rerouted;

	for (int64_t i = 0; i < r->hops && i < MAX_HOPS; i++) {
		int64_t at = f * MAX_HOPS + i;
		double ts = nominal(d, r->hop[i].ts_ns), tx = (double)r->hop[i].tx_bytes;
		int moved = d->seen_node[at] >= 0 && d->seen_node[at] != r->hop[i].node;
		int back = !moved && (ts < d->seen_ts[at] || tx < d->seen_tx[at]);

		if ((moved && !d->flow[f].rerouted) || (back && !swapped) || (i && ts < nominal(d, r->hop[i - 1].ts_ns)))
			wrong = 1;
		if (back)
			continue;
		d->seen_node[at] = r->hop[i].node;
		d->seen_ts[at] = ts;
		d->seen_tx[at] = tx;
	}
	d->int_faults += wrong;
}

static void read_hops(struct datapath *d, int64_t row, const struct record *r)
{
	d->row_hops[row] = r->hops;
	for (int64_t i = 0; i < r->hops && i < MAX_HOPS; i++) {
		int64_t at = row * MAX_HOPS + i;

		struct cc_hop hop = hop_of(d, r, i);

		d->hop_node[at] = hop.node;
		d->hop_ts[at] = hop.ts;
		d->hop_tx[at] = hop.tx_bytes;
		d->hop_queue[at] = hop.queue;
		d->hop_rate[at] = hop.rate;
	}
}

/* One path: how many packets the acknowledgement shows to be lost; -1 if it had been declared lost itself. */
static inline int64_t resolve_in_order(struct flow *flow, const struct record *r)
{
	int64_t ahead = (r->psn - flow->expected) & 0xffffff;

	if (ahead >= HALF)
		return -1;
	flow->expected += ahead + 1;
	flow->inflight -= ahead + 1;
	flow->lost += ahead;
	flow->to_send += ahead;
	return ahead;
}

/* How long ago its packet was sent. From the stamps alone: differences of times since the start lose bits as a run goes on. */
static inline double age(const struct datapath *d, const struct ring *ring, const struct record *r)
{
	return (double)(int64_t)(r->rx_ns - r->tx_ns) * d->seconds_per_ns + ring->delay;
}

static void on_ack(struct datapath *d, struct ring *ring, int64_t row, int64_t f, const struct record *r, double due,
		   double now, int swapped)
{
	struct flow *flow = &d->flow[f];
	double rtt = age(d, ring, r);
	struct progress p = {1, r->frame, r->payload, !!(r->flags & SHIM_CE), 0};

	if (numbered(d))
		p = recover(d, f, r, rtt, due, now);
	if (!p.packets) { /* nothing that was not known, or only that something is missing */
		d->row_lost[row] += p.lost;
		if (d->decisions.of && p.lost)
			tell_loss(d, f, p.lost, now);
		return;
	}
	d->row_acked[row] += p.packets;
	d->row_bytes[row] += p.frame;
	d->row_ce[row] += p.ce;
	d->row_inc[row] += !!(r->flags & SHIM_INC);
	d->row_rtt[row] = rtt;
	flow->bin = count(&d->rtts, rtt) * FLOW_RTT_BINS / d->rtts.bins;
	d->rtt_counts[f * FLOW_RTT_BINS + flow->bin]++;
	flow->rtt_sum += rtt * (double)p.packets;
	flow->acked_wire += p.frame;
	flow->acked_payload += p.payload;
	flow->ce += p.ce;
	flow->rtt = rtt;
	if (!numbered(d))
		p.lost = MANY_PATHS ? resolve(d, ring, f, r, rtt, now) : resolve_in_order(flow, r);
	if (p.lost >= 0) {
		d->row_lost[row] += p.lost;
	} else {
		flow->late++;
		flow->lost--;
		if (flow->to_send > 0)
			flow->to_send--;
	}
	if (d->int_on && p.lost >= 0)
		MANY_PATHS ? check_stack(d, f, r) : check_hops(d, f, r, swapped);
	if (d->decisions.of)
		tell_ack(d, f, r, &p, rtt, now);
	else if (r->hops)
		read_hops(d, row, r);
	if (!flow->to_send && !flow->inflight && isnan(flow->finished)) {
		flow->finished = due;
		if (d->tasks) /* where nothing is known of what a receiver has */
			flow_done(d->tasks, d->first + f, due);
	}
}

/* Acknowledgements that fill the gap before packet `psn` may be waiting behind it: take them now. */
static void fill_gap(struct datapath *d, struct ring *ring, int64_t row, int64_t f, uint64_t position, double due,
		     double now)
{
	const struct record *r = record_at(ring, position);
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	uint64_t step = HEADER + sizeof(*r);

	for (uint64_t later = position + step; later < end && ((r->psn - d->flow[f].expected) & 0xffffff); later += step) {
		const uint8_t *slot = ring->data + (later & ring->mask);
		const struct record *other = (const struct record *)(slot + HEADER);

		if (__atomic_load_n((const uint32_t *)slot, __ATOMIC_ACQUIRE) & BUSY)
			return;
		if (other->flow != r->flow || other->opcode != BTH_ACK || ring->taken_length == SWAPS)
			continue;
		if (((uint32_t)(other->psn - d->flow[f].expected) & 0xffffff) >= ((r->psn - d->flow[f].expected) & 0xffffff))
			continue;
		on_ack(d, ring, row, f, other, due, now, 1);
		ring->taken[ring->taken_length++] = later;
		ring->swapped_until = later;
		d->swapped++;
	}
}

/* A record that is about credits: a packet that has arrived at this end, or a credit for a flow of it. */
static ASIDE void hear_of_credits(struct datapath *d, const struct record *r, double delay, double now)
{
	int64_t f = (int64_t)r->flow - d->first;

	if (r->opcode != BTH_CREDIT)
		take_arrival(d, r, delay, now);
	else if (take_credit(d, r, now))
		reschedule(d, &f, 1, now);
}

static int is_answer(const struct record *r)
{
	return r->opcode == BTH_ACK || r->opcode == AETH_NAK || r->opcode == AETH_TRIMMED;
}

static int was_taken(struct ring *ring, uint64_t position)
{
	for (int64_t i = 0; i < ring->taken_length; i++) {
		if (ring->taken[i] == position) {
			ring->taken[i] = ring->taken[--ring->taken_length];
			return 1;
		}
	}
	return 0;
}

/* Turn what is due in one ring into rows, behind the `rows` that there are; returns their number. */
int64_t read_ring(struct datapath *d, struct ring *ring, int64_t rows, double now)
{
	uint64_t position = *ring->consumer, end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);

	if (d->tasks && ring->delay > 0)
		look_at(d, ring, now); /* before its records are given back */
	if ((int64_t)(end - position) > d->high_water)
		d->high_water = (int64_t)(end - position);
	for (; position < end && !has_failed(&d->decisions); position += HEADER + sizeof(struct record)) {
		uint8_t *slot = ring->data + (position & ring->mask);
		struct record *r = (struct record *)(slot + HEADER);
		int64_t f, row;
		double due;

		if (__atomic_load_n((uint32_t *)slot, __ATOMIC_ACQUIRE) & BUSY)
			break; /* another core is still writing it */
		due = nominal(d, r->rx_ns) + ring->delay;
		if (due > now)
			break;
		if (has_credits(d) && (r->opcode == BTH_CREDIT || r->opcode <= BTH_WRITE + BTH_SEND_ONLY_IMM)) {
			hear_of_credits(d, r, age(d, ring, r), now);
			continue;
		}
		f = (int64_t)r->flow - d->first;
		d->flow[f].acked += is_answer(r); /* not before: until then it counts as unread */
		if (ring->taken_length && was_taken(ring, position))
			continue;
		count(&d->feedback, now - due);
		row = d->flow[f].row;
		if (row < 0) {
			row = d->flow[f].row = rows++;
			d->row_flow[row] = f;
			d->row_acked[row] = d->row_bytes[row] = d->row_ce[row] = d->row_inc[row] = d->row_cnps[row] = d->row_lost[row] = 0;
			d->row_hops[row] = 0;
			d->row_rtt[row] = NAN;
		}
		if (!numbered(d)) /* or only something new postpones its timeout */
			d->flow[f].last_feedback = now;
		if (is_answer(r)) {
			int64_t ahead = (r->psn - d->flow[f].expected) & 0xffffff;

			if (!MANY_PATHS && !numbered(d) && ahead && ahead < HALF)
				fill_gap(d, ring, row, f, position, due, now);
			on_ack(d, ring, row, f, r, due, now, position <= ring->swapped_until);
		} else if (r->opcode == BTH_SRC) {
			d->srcs[f]++;
			tell_src(d, f, r, age(d, ring, r), now);
		} else {
			d->row_cnps[row]++;
			d->flow[f].cnps++;
			if (d->decisions.of)
				tell_cnp(d, f, now);
		}
	}
	__atomic_store_n(ring->consumer, position, __ATOMIC_RELEASE);
	return rows;
}

/* What rows say of their flows as they are now. Whatever comes next begins new rows. */
void end_rows(struct datapath *d, int64_t rows)
{
	for (int64_t row = 0; row < rows; row++) {
		int64_t f = d->row_flow[row];

		d->flow[f].row = -1;
		d->row_last[row] = newest_acked(d, f);
		d->row_next[row] = d->flow[f].sent;
		d->row_inflight[row] = d->flow[f].inflight * d->wire_size;
	}
}

/* Everything that is due by `now`, as rows; returns their number. A flow occurs once: all its feedback is in one ring. */
int64_t read_feedback(struct datapath *d, double now)
{
	int64_t rows = 0;

	for (int64_t i = 0; i < d->ring_count; i++)
		rows = read_ring(d, &d->rings[i], rows, now);
	end_rows(d, rows);
	return rows;
}
