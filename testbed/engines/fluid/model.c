// SPDX-License-Identifier: Apache-2.0
/*
 * What the fluid model does in a step, but for starts and for all that the controller decides: flows send, queues drain,
 * probes leave, see and come back, and what is to be told is collected. Every sum is taken in the order in which numpy takes it.
 */
#include "model.h"
#include "../../agent/histogram.h"

#include <math.h>
#include <string.h>

#define BLOCK 128 /* numpy's pairwise summation: blocks of so many, eight sums in each */

static double total(const double *a, int64_t n)
{
	double r[8], sum = 0;
	int64_t i, half;

	if (n < 8) {
		for (i = 0; i < n; i++)
			sum += a[i];
		return sum;
	}
	if (n > BLOCK) {
		half = n / 2 - n / 2 % 8;
		return total(a, half) + total(a + half, n - half);
	}
	for (i = 0; i < 8; i++)
		r[i] = a[i];
	for (; i < n - n % 8; i += 8)
		for (int64_t k = 0; k < 8; k++)
			r[k] += a[i + k];
	sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
	for (; i < n; i++)
		sum += a[i];
	return sum;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Of what arrived, from 0 to 1; 0 of nothing. */
static double share(double part, double whole)
{
	return smaller(larger(part, 0) / larger(whole, 1e-9), 1);
}

/* As testbed.base.red.mark_share. */
static double mark_share(double queue, double kmin, double kmax, double pmax)
{
	if (queue > kmax)
		return 1;
	return queue > kmin ? pmax * (queue - kmin) / (kmax - kmin + (kmax <= kmin)) : 0;
}

/* Up to where its window or its size lets a flow send. A window below one packet lets one through at least. */
static double limit(const struct model *m, int64_t f)
{
	return smaller(larger(m->window[f], m->wire_size) + m->acked[f], m->size[f]) + m->lost[f];
}

/* Take over what was decided for all flows. Returns the first flow whose rate or window is no positive number, or -1. */
int64_t take_over(struct model *m)
{
	double next = INFINITY;

	for (int64_t f = 0; f < m->flows; f++)
		if (!(m->rate[f] > 0 && m->window[f] > 0))
			return f;
	for (int64_t f = 0; f < m->flows; f++) {
		double rate = smaller(larger(m->rate[f], m->least_rate), m->line_rate);

		m->amount[f] = m->sending[f] ? rate * (m->step / 8) : 0;
		m->limit[f] = limit(m, f);
		if (m->sending[f])
			next = smaller(m->timer[f], next);
	}
	m->next_timer = next;
	return -1;
}

/* Collect what there is news of, which counts as told from now on. Returns of how many flows. */
int64_t collect(struct model *m)
{
	int64_t n = m->flows, count = 0;
	double wire = m->wire_size;

	m->told_ce = 0;
	for (int64_t f = 0; f < n; f++) {
		int64_t *told = m->told + count, following;
		double *real = m->told_real + count;

		if (!m->news[f])
			continue;
		count++;
		following = (int64_t)(m->sent[f] / wire);
		m->news[f] = 0;
		told[FLOW * n] = f;
		told[PACKETS * n] = (int64_t)(m->acked[f] / wire) - (int64_t)(m->told_acked[f] / wire);
		told[BYTES * n] = told[PACKETS * n] * (int64_t)wire;
		told[SEQ * n] = (int64_t)(m->heard_covers[f] / wire) - 1;
		told[NEXT_SEQ * n] = following;
		told[INFLIGHT * n] = (int64_t)(m->sent[f] - m->acked[f] - m->lost[f]);
		told[LOST * n] = (int64_t)(m->lost[f] / wire) - (int64_t)(m->told_lost[f] / wire);
		told[SENT_BYTES * n] = (following - (int64_t)(m->told_sent[f] / wire)) * (int64_t)wire;
		told[CE * n] = told[CNPS * n] = 0;
		told[NODE * n] = m->queue[f] + 1;
		real[RTT * n] = m->heard_rtt[f];
		real[SEEN_AT * n] = m->heard_at[f];
		real[TX_BYTES * n] = m->heard[LEFT * n + f];
		real[QUEUED * n] = m->heard[QUEUE * n + f];
		real[MARKED_SHARE * n] = share(m->marked[f], m->passed[f]);
		m->told_ce |= real[MARKED_SHARE * n] > 0;
		m->marked[f] = m->passed[f] = 0;
		m->told_sent[f] = m->sent[f];
		m->told_acked[f] = m->acked[f];
		m->told_lost[f] = m->lost[f];
	}
	m->news_count = 0;
	return count;
}

/* The first `rows` of what was collected: who gets a CNP of it, where CE was drawn. */
void notify(struct model *m, int64_t rows)
{
	int64_t n = m->flows;

	for (int64_t row = 0; row < rows; row++) {
		double *last = &m->last_cnp[m->told[FLOW * n + row]];

		m->told[CNPS * n + row] = m->told[CE * n + row] > 0 && m->now - *last >= m->cnp_interval;
		if (m->told[CNPS * n + row])
			*last = m->now;
	}
}

/* Count them for those who record and show the run: all packets that are acknowledged had the RTT of the probe. */
void meter(struct model *m, int64_t rows)
{
	int64_t n = m->flows;

	for (int64_t row = 0; row < rows; row++) {
		const int64_t *told = m->told + row;
		int64_t f = told[FLOW * n];
		double rtt = m->told_real[RTT * n + row];

		m->rtt_counts[f * m->rtt_bins + bin_of_time(rtt, m->rtt_bins, m->rtt_per_octave)] += told[PACKETS * n];
		m->rtt_now[f] = rtt;
		m->rtt_sum[f] += rtt * (double)told[PACKETS * n];
		*m->rtt_least = smaller(rtt, *m->rtt_least);
		m->ce[f] += told[CE * n];
		m->cnps[f] += told[CNPS * n];
	}
	m->decisions[0]++;
	m->decisions[1] += rows;
}

/* A host's flows share its line. */
static void share_lines(struct model *m)
{
	double *now = m->sending_now, *per_host = m->per_host;

	memset(per_host, 0, sizeof(*per_host) * (size_t)m->hosts);
	for (int64_t f = 0; f < m->flows; f++)
		per_host[m->host[f]] += now[f];
	for (int64_t f = 0; f < m->flows; f++)
		now[f] *= m->per_step / larger(per_host[m->host[f]], m->per_step);
}

/* What was sent arrives half a base RTT later. */
static void enter(struct model *m)
{
	const double *now = m->sending_now;
	double *slot = m->into_slot, *ring = m->ring;

	if (m->alike >= 0 && m->queues == 1) {
		ring[(m->at + m->alike) % m->ring_size] += total(now, m->flows);
		return;
	}
	memset(slot, 0, sizeof(*slot) * (size_t)m->ring_size);
	for (int64_t f = 0; f < m->flows; f++)
		slot[m->alike >= 0 ? m->queue[f] : (m->at + m->into[f]) % m->ring_size] += now[f];
	if (m->alike >= 0)
		ring += (m->at + m->alike) % m->ring_size;
	for (int64_t i = 0; i < (m->alike >= 0 ? m->queues : m->ring_size); i++)
		ring[i] += slot[i];
}

static void send(struct model *m)
{
	const double *amount = m->amount, *limits = m->limit;
	double *restrict now = m->sending_now, *restrict sent = m->sent;
	int64_t n = m->flows;

	for (int64_t f = 0; f < n; f++)
		now[f] = smaller(amount[f], larger(limits[f] - sent[f], 0));
	if (m->hosts)
		share_lines(m);
	for (int64_t f = 0; f < n; f++)
		sent[f] += now[f];
	enter(m);
}

/* What arrives now joins the queues, beyond the buffer it is dropped; a step's worth leaves. */
static void drain(struct model *m)
{
	int64_t n = m->queues;
	double *slot = m->ring + m->at, *counts = m->counts;
	const double *kmin = m->red, *kmax = m->red + n, *pmax = m->red + 2 * n;

	for (int64_t q = 0; q < n; q++) {
		double *now = counts + QUEUE * n + q;
		double before = *now + slot[q], after = before - m->per_step, lost = larger(after - m->buffer, 0);

		counts[ARRIVED * n + q] += slot[q];
		counts[DROPPED * n + q] += lost;
		counts[MARKED * n + q] += (slot[q] - lost) * mark_share(*now, kmin[q], kmax[q], pmax[q]);
		*now = larger(after - lost, 0);
		counts[LEFT * n + q] += (before - lost) - *now;
		m->area[q] += *now;
		slot[q] = 0;
	}
	m->at = (m->at + n) % m->ring_size;
}

static void leave(struct model *m, int64_t p)
{
	m->covers[p] = m->sent[p / m->each];
	m->phase[p] = TO_QUEUE;
	m->due[p] += m->base_rtt[p] / 2;
}

/* It is at the queue. */
static void see(struct model *m, int64_t p)
{
	int64_t n = m->queues, probes = m->flows * m->each, q = m->queue[p / m->each];
	double wait = m->counts[QUEUE * n + q] * 8 / m->line_rate;

	for (int64_t i = 0; i < COUNTS; i++)
		m->seen[i * probes + p] = m->counts[i * n + q];
	m->seen_at[p] = m->now;
	m->rtt[p] = m->base_rtt[p] + wait;
	m->due[p] += wait + (m->base_rtt[p] / 2 + m->decision_delay);
	m->phase[p] = BACK;
}

/* Everything that was sent before the probe is acknowledged now, or lost. */
static void hear(struct model *m, int64_t f, int64_t p)
{
	int64_t n = m->flows, probes = n * m->each;
	double grown[COUNTS], fresh, losing;

	for (int64_t i = 0; i < COUNTS; i++) {
		double *heard = m->heard + i * n + f, seen = m->seen[i * probes + p];

		grown[i] = seen - *heard;
		*heard = seen;
	}
	fresh = larger(m->covers[p] - m->acked[f] - m->lost[f], 0);
	losing = fresh * share(grown[DROPPED], grown[ARRIVED]);
	m->acked[f] = m->acked[f] + fresh - losing;
	m->lost[f] += losing;
	m->limit[f] = limit(m, f);
	m->marked[f] += grown[MARKED];
	m->passed[f] += grown[ARRIVED] - grown[DROPPED];
	m->heard_covers[f] = m->covers[p];
	m->heard_rtt[f] = m->rtt[p];
	m->heard_at[f] = m->seen_at[p];
	m->news_count += !m->news[f];
	m->news[f] = 1;
	if (!m->answered[f] && m->covers[p] >= m->decided_at[f]) {
		m->answered[f] = 1;
		m->answered_count++;
	}
	if (m->acked[f] > m->size[f] - m->wire_size / 2) {
		m->sending[f] = 0;
		m->amount[f] = 0;
		m->finished[f] = m->now;
		m->ended++;
	}
}

/* Those of a flow that are due now: of several that are back the one that left last is heard. */
static void probe(struct model *m, int64_t f)
{
	int64_t first = f * m->each, newest = -1;
	double soonest = INFINITY;

	for (int64_t p = first; p < first + m->each; p++) {
		if (m->due[p] > m->now)
			continue;
		if (m->phase[p] == TO_SEND)
			leave(m, p);
		else if (m->phase[p] == TO_QUEUE)
			see(m, p);
		else if (newest < 0 || m->covers[p] >= m->covers[newest])
			newest = p;
	}
	if (newest >= 0)
		hear(m, f, newest);
	for (int64_t p = first; p < first + m->each; p++) {
		if (m->phase[p] == BACK && m->due[p] <= m->now)
			leave(m, p); /* the next one leaves with the decision */
		if (newest >= 0 && !m->sending[f])
			m->due[p] = INFINITY;
		soonest = smaller(soonest, m->due[p]);
	}
	m->first_due[f] = soonest;
}

/* Go on by a step. */
static void one_step(struct model *m)
{
	m->now += m->step;
	send(m);
	drain(m);
	if (m->next_probe > m->now)
		return;
	m->next_probe = INFINITY;
	for (int64_t f = 0; f < m->flows; f++) {
		if (m->first_due[f] <= m->now)
			probe(m, f);
		m->next_probe = smaller(m->next_probe, m->first_due[f]);
	}
}

/* Whether all of `enough` flows are answered, or half of them were, half of the time ago; or one has sent everything. */
static int is_enough(struct model *m, int64_t enough, int64_t ended)
{
	if (2 * m->answered_count >= enough)
		m->half_at = smaller(m->half_at, m->now);
	return m->answered_count >= enough || m->ended > ended || m->now >= 2 * m->half_at - m->began;
}

/*
 * Go on by up to `most` steps, to `until`, to before the next start, to the next timer, or until there is something to
 * tell and it is enough for what is waited for since `began`.
 */
void advance(struct model *m, int64_t most, double until, int64_t enough, double began)
{
	int64_t ended = m->ended;

	if (m->began != began)
		m->half_at = INFINITY;
	m->began = began;
	while (most-- > 0 && m->now < until && m->now + m->step < m->next_start) {
		one_step(m);
		if (m->now >= m->next_timer || (is_enough(m, enough, ended) && m->news_count))
			return;
	}
}
