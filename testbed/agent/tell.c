// SPDX-License-Identifier: Apache-2.0
#include "tell.h"
#include "datapath.h"
#include "queue_pairs.h"
#include "recovery.h"

#define SAMPLED 64 /* of so many calls, one is timed */

static int64_t cycles(void)
{
#ifdef __x86_64__
	return (int64_t)__builtin_ia32_rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
#endif
}

/* One of many calls took from `before` until now: that stands for all of them. */
static void count_time(struct decisions *c, int64_t before)
{
	int64_t after = cycles(), ns;
	double seconds;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = t.tv_sec * 1000000000ll + t.tv_nsec;
	if (!c->first_cycles) { /* nothing to compare cycles with yet */
		c->first_cycles = after;
		c->first_ns = ns;
		return;
	}
	seconds = (double)(after - before) * 1e-9 * (double)(ns - c->first_ns) / (double)(after - c->first_cycles);
	*c->seconds += SAMPLED * seconds;
	count(c->times, seconds);
}

static int decide(struct datapath *d, int64_t f, int64_t event, double now, int64_t number, const struct cc_ack *ack)
{
	struct decisions *c = &d->decisions;
	int64_t before, opener = d->flow[f].opener;
	int fine;

	c->counts[1]++;
	if (c->counts[0]++ % SAMPLED) {
		fine = tell(c->of[f], opener, event, now, number, ack);
	} else {
		before = cycles();
		fine = tell(c->of[f], opener, event, now, number, ack);
		count_time(c, before);
	}
	c->failed |= !fine;
	return fine;
}

static void trace_call(struct datapath *d, int64_t kind, int64_t f, double now, const int64_t *told, int64_t length)
{
	struct trace *t = d->decisions.trace;
	int64_t opener = d->flow[f].opener;
	int64_t *kept;

	if (!has_room(t))
		return;
	kept = add_call(t, kind, now, record_of(d->decisions.of[f], opener), opener, length, -1);
	if (length)
		memcpy(kept, told, (size_t)length * sizeof(*told));
}

static void trace_feedback(struct datapath *d, int64_t kind, int64_t f, const struct cc_ack *ack, int64_t cnps, int64_t lost)
{
	struct trace *t = d->decisions.trace;
	int64_t opener = d->flow[f].opener;

	if (has_room(t))
		record_feedback(t, kind, ack->now, record_of(d->decisions.of[f], opener), opener, ack, cnps, lost,
				kind == SRC || (kind == FEEDBACK && d->decisions.wants_int));
}

/* What every kind of feedback says about its flow. */
static struct cc_ack nothing_acked(struct datapath *d, int64_t f, double now)
{
	const struct flow *newest = &d->flow[newest_message(d, f)];

	return (struct cc_ack){
		.now = now,
		.seq = d->flow[f].sent_before + newest_acked(d, f),
		.next_seq = newest->sent_before + newest->sent,
		.inflight = in_flight(d, f) * d->wire_size,
		.rtt = NAN,
	};
}

/* An ACK, what it acknowledges, and the loss that it shows. */
void tell_ack(struct datapath *d, int64_t f, const struct record *r, const struct progress *what, double rtt, double now)
{
	struct cc_ack ack = nothing_acked(d, f, now);
	int64_t lost = what->lost > 0 ? what->lost : 0;

	ack.packets = what->packets;
	ack.bytes = what->frame;
	ack.rtt = rtt;
	ack.ce_packets = what->ce;
	ack.inc_packets = !!(r->flags & SHIM_INC);
	if (d->decisions.wants_int) {
		ack.hop_count = r->hops < CC_MOST_HOPS ? r->hops : CC_MOST_HOPS;
		for (int64_t i = 0; i < ack.hop_count; i++)
			ack.hops[i] = hop_of(d, r, i);
	}
	if (lost && !decide(d, f, CC_ON_LOSS, now, lost, NULL))
		return;
	if (decide(d, f, CC_ON_ACK, now, 0, &ack))
		trace_feedback(d, FEEDBACK, f, &ack, 0, lost);
}

/* A loss that nothing shows which was acknowledged. */
void tell_loss(struct datapath *d, int64_t f, int64_t lost, double now)
{
	struct cc_ack ack = nothing_acked(d, f, now);

	if (decide(d, f, CC_ON_LOSS, now, lost, NULL))
		trace_feedback(d, FEEDBACK, f, &ack, 0, lost);
}

void tell_cnp(struct datapath *d, int64_t f, double now)
{
	struct cc_ack ack = nothing_acked(d, f, now);

	if (decide(d, f, CC_ON_CNP, now, 0, NULL))
		trace_feedback(d, FEEDBACK, f, &ack, 1, 0);
}

/* An SRC: controllers in batches get none. */
void tell_src(struct datapath *d, int64_t f, const struct record *r, double age, double now)
{
	struct cc_ack src = nothing_acked(d, f, now);

	src.rtt = age;
	src.hop_count = 1;
	src.hops[0] = hop_of(d, r, 0);
	if (decide(d, f, CC_ON_SRC, now, 0, &src))
		trace_feedback(d, SRC, f, &src, 0, 0);
}

int tell_start(struct datapath *d, int64_t f, double now)
{
	if (!decide(d, f, CC_ON_START, now, 0, NULL))
		return 0;
	trace_call(d, START, f, now, NULL, 0);
	return 1;
}

int tell_sent(struct datapath *d, int64_t f, int64_t bytes, double now)
{
	if (!decide(d, f, CC_ON_SENT, now, bytes, NULL))
		return 0;
	trace_call(d, SENT, f, now, &bytes, 1);
	return 1;
}

int tell_timer(struct datapath *d, int64_t f, double now)
{
	if (!decide(d, f, CC_ON_TIMER, now, 0, NULL))
		return 0;
	trace_call(d, TIMER, f, now, NULL, 0);
	return 1;
}

/* Everything in flight of the flow was declared lost, so many packets. */
int tell_timeout(struct datapath *d, int64_t f, int64_t lost, double now)
{
	struct cc_ack ack = nothing_acked(d, f, now);

	if (!decide(d, f, CC_ON_TIMEOUT, now, lost, NULL))
		return 0;
	trace_feedback(d, TIMEOUT, f, &ack, 0, lost);
	return 1;
}
