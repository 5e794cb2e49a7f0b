// SPDX-License-Identifier: Apache-2.0
/*
 * A controller per flow is asked here, in the moment its flow starts, a record is read, a timer is due or packets were
 * sent: Python is not needed until a flow falls silent, or the run ends.
 */
#include "batch.h"
#include "queue_pairs.h"

#define SAMPLED 64 /* of so many calls, one is timed */
#define ENDLESS 1000 /* looks at one instant that are taken for a loop without end */

double next_due(struct datapath *d);
int64_t read_feedback(struct datapath *d, double now);
int64_t due_timers(struct datapath *d, double now, int64_t *flows);
void apply(struct datapath *d, int64_t f, const struct decided *decided, double now);

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

static int decide(struct datapath *d, int64_t f, int64_t event, double now, int64_t number, const struct ack *ack)
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

	if (has_room(t))
		memcpy(add_call(t, kind, now, record_of(d->decisions.of[f], opener), opener, length, -1), told,
		       (size_t)length * sizeof(*told));
}

static void trace_feedback(struct datapath *d, int64_t kind, int64_t f, const struct ack *ack, int64_t cnps, int64_t lost)
{
	struct trace *t = d->decisions.trace;
	int64_t opener = d->flow[f].opener;

	if (has_room(t))
		record_feedback(t, kind, ack->now, record_of(d->decisions.of[f], opener), opener, ack, cnps, lost,
				kind == SRC || (kind == FEEDBACK && d->decisions.wants_int));
}

/* What every kind of feedback says about its flow. */
static struct ack nothing_acked(struct datapath *d, int64_t f, double now)
{
	const struct flow *newest = &d->flow[newest_message(d, f)];

	return (struct ack){
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
	struct ack ack = nothing_acked(d, f, now);
	int64_t lost = what->lost > 0 ? what->lost : 0;

	ack.packets = what->packets;
	ack.bytes = what->frame;
	ack.rtt = rtt;
	ack.ce_packets = what->ce;
	ack.inc_packets = !!(r->flags & SHIM_INC);
	if (d->decisions.wants_int) {
		ack.hop_count = r->hops < MOST_HOPS ? r->hops : MOST_HOPS;
		for (int64_t i = 0; i < ack.hop_count; i++)
			ack.hops[i] = hop_of(d, r, i);
	}
	if (lost && !decide(d, f, ON_LOSS, now, lost, NULL))
		return;
	if (decide(d, f, ON_ACK, now, 0, &ack))
		trace_feedback(d, FEEDBACK, f, &ack, 0, lost);
}

/* A loss that nothing shows which was acknowledged. */
void tell_loss(struct datapath *d, int64_t f, int64_t lost, double now)
{
	struct ack ack = nothing_acked(d, f, now);

	if (decide(d, f, ON_LOSS, now, lost, NULL))
		trace_feedback(d, FEEDBACK, f, &ack, 0, lost);
}

void tell_cnp(struct datapath *d, int64_t f, double now)
{
	struct ack ack = nothing_acked(d, f, now);

	if (decide(d, f, ON_CNP, now, 0, NULL))
		trace_feedback(d, FEEDBACK, f, &ack, 1, 0);
}

/* An SRC: controllers in batches get none. */
void tell_src(struct datapath *d, int64_t f, const struct record *r, double age, double now)
{
	struct ack src = nothing_acked(d, f, now);

	src.rtt = age;
	src.hop_count = 1;
	src.hops[0] = hop_of(d, r, 0);
	if (decide(d, f, ON_SRC, now, 0, &src))
		trace_feedback(d, SRC, f, &src, 0, 0);
}

/* What a queue pair's record now says applies to its messages, at once or when a core has worked through it. */
static void decided(struct datapath *d, int64_t f, double now)
{
	const struct decided *record = record_of(d->decisions.of[f], d->flow[f].opener);

	for (int64_t m = newest_message(d, f); m >= 0; m = message_before(d, m)) {
		if (needs_core(&d->decisions.core, m))
			serve_decision(d, m, record, now);
		else
			apply(d, m, record, now);
	}
}

static void tell_sent(struct datapath *d, double now)
{
	for (int64_t i = 0; i < d->unreported_length; i++) {
		int64_t f = d->unreported[i], bytes[1] = {d->flow[f].sent_now * d->wire_size};

		d->flow[f].sent_now = 0;
		if (!decide(d, f, ON_SENT, now, bytes[0], NULL))
			return;
		trace_call(d, SENT, f, now, bytes, 1);
		decided(d, f, now);
	}
	d->unreported_length = 0;
}

static void tell_timers(struct datapath *d, double now)
{
	int64_t n = due_timers(d, now, d->decisions.due); /* first: a timer may be set to a time that has passed */

	for (int64_t i = 0; i < n; i++) {
		int64_t f = d->decisions.due[i];

		if (!decide(d, f, ON_TIMER, now, 0, NULL))
			return;
		trace_call(d, TIMER, f, now, NULL, 0);
		decided(d, f, now);
	}
}

/* Flows whose time has come start. */
static void start_due(struct datapath *d, double now)
{
	int64_t n = due_starts(d, now, d->decisions.due);

	for (int64_t i = 0; i < n; i++) {
		int64_t f = d->decisions.due[i];
		struct decider *c = d->decisions.of[f];

		d->flow[f].started = 1;
		if (!goes_on(d, f)) {
			memcpy(record_of(c, f), c->initial + f * c->size, (size_t)c->size);
			if (!decide(d, f, ON_START, now, 0, NULL))
				return;
			trace_call(d, START, f, now, NULL, 0);
		}
		apply(d, f, record_of(c, d->flow[f].opener), now);
	}
}

/* All decisions that are due by `now`, those with which flows start last. */
void decide_due(struct datapath *d, double now)
{
	struct decisions *c = &d->decisions;

	c->steps++;
	apply_served(d, now);
	if (c->wants_sent && now >= c->next_report) {
		c->next_report = now + c->longest_sleep;
		tell_sent(d, now);
	}
	if (!has_failed(c) && next_due(d) <= now) {
		int64_t rows = read_feedback(d, now);

		for (int64_t i = 0; i < rows && !has_failed(c); i++)
			decided(d, d->row_flow[i], now);
	}
	if (!has_failed(c) && heap_first(&d->alarms) <= now)
		tell_timers(d, now);
	if (!has_failed(c))
		start_due(d, now);
}

/* When to decide again. Feedback and timers are gathered for a moment: several cost little more than one. */
static double next_decision(struct datapath *d, double now)
{
	const struct decisions *c = &d->decisions;
	double soonest = fmax(fmin(next_due(d), heap_first(&d->alarms)), now) + c->gather;

	if (c->wants_sent) /* then, and not when something else is due */
		soonest = fmin(soonest, c->next_report);
	return fmin(fmin(soonest, now + c->longest_sleep), next_served(&c->core));
}

/* Sleep, send and decide until `until`, or until something has failed. Returns whether a timer stays in the past. */
int64_t serve(struct datapath *d, double until)
{
	double now = now_seconds(d);
	int64_t looks = 0;

	while (now < until && looks < ENDLESS && !has_failed(&d->decisions) && !d->send_error) {
		double before = now;

		pace(d, fmin(next_decision(d, now), until));
		now = now_seconds(d);
		looks = now > before ? 0 : looks + 1;
		decide_due(d, now);
	}
	return looks == ENDLESS && heap_first(&d->alarms) <= now;
}

/* Everything in flight of these flows was declared lost. */
void time_out(struct datapath *d, const int64_t *flows, int64_t n, double now)
{
	for (int64_t i = 0; i < n; i++) {
		struct ack ack = nothing_acked(d, flows[i], now);

		if (!decide(d, flows[i], ON_TIMEOUT, now, 0, NULL))
			return;
		trace_feedback(d, TIMEOUT, flows[i], &ack, 0, 0);
		decided(d, flows[i], now);
	}
}
