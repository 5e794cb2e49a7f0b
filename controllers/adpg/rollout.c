// SPDX-License-Identifier: Apache-2.0
/*
 * The fluid model with ADPG's policy inside, for training: the same steps in the same order as testbed/engines/fluid/fluid.py
 * with one probe per flow, a hundred times as fast. Mirrored field by field in rollout.py.
 *
 * Times are in seconds, rates are shares of line rate, queues are in seconds of line time.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { TO_SEND, TO_QUEUE, BACK };
enum { WIDTH = 12, FEATURES = 4 };
#define PATIENCE 44 /* as in observation.py */
#define STEEPEST .1

struct model {
	int64_t flows, environments, half; /* half a base RTT, in steps */
	double step, now, base_rtt, buffer, beta, target, highest_x, start_rate, least_rate, ramp;
	double delay; /* from a probe's return to the decision, with which the next one leaves */
	double reach; /* the rate of the first flow at which to end */
	const int64_t *environment; /* of each flow; flows are ordered by it */
	double (*policy)(const void *parameters, const double *features); /* gives the multiplier */
	const void *parameters;
	/* or, if not NULL, a whole controller: gives the rate for an RTT in s */
	double (*controller)(void *state, int64_t flow, double rtt);
	void *state;
	/* per flow */
	double *start; /* inf once it has started */
	double *rate, *due, *wait, *oldest, *newest, *signal, *sent;
	int64_t *phase, *fresh, *decisions, *episode, *idle;
	/* per environment */
	double *queue, *ring, *area, *square, *dropped, *reset_at;
	int64_t at; /* in the ring, which has half + 1 steps per environment */
	/* restarts */
	double window, shortest, longest;
	uint64_t random;
	/* what is recorded: features, x; in the order of each flow */
	int64_t most, length;
	double *features;
	int64_t *sequence; /* flow + flows * episode */
};

static double uniform(struct model *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (double)(m->random >> 11) * 0x1p-53;
}

/* `parameters`: the weights of the layers, row by row. */
double network(const void *parameters, const double *features)
{
	const double *weights = parameters;
	double first[WIDTH], second[WIDTH], out = 0;

	for (int i = 0; i < WIDTH; i++) {
		double sum = 0;

		for (int j = 0; j < FEATURES; j++)
			sum += *weights++ * features[j];
		first[i] = sum > 0 ? sum : 0;
	}
	for (int i = 0; i < WIDTH; i++) {
		double sum = 0;

		for (int j = 0; j < WIDTH; j++)
			sum += *weights++ * first[j];
		second[i] = sum > 0 ? sum : 0;
	}
	for (int j = 0; j < WIDTH; j++)
		out += *weights++ * second[j];
	out = tanh(out);
	return out >= 0 ? 1 + 0.2 * out : 1 / (1 - 0.2 * out);
}

static double narrowed(double value, double least)
{
	value = rint(value);
	return value < least ? least : value > 127 ? 127 : value;
}

static void layer(const double *weights, const double *in, int inputs, double *out, double back)
{
	for (int i = 0; i < WIDTH; i++) {
		double sum = 0;

		for (int j = 0; j < inputs; j++)
			sum += *weights++ * in[j];
		out[i] = narrowed(sum * back, 0);
	}
}

/* The network in 8 bits (int8.py). `parameters`: the input's scale, two factors back to 8 bits, the output's, weights. */
double int8_network(const void *parameters, const double *features)
{
	const double *scale = parameters, *weights = scale + 4;
	double input[FEATURES], first[WIDTH], second[WIDTH], out = 0;

	for (int j = 0; j < FEATURES; j++)
		input[j] = narrowed(features[j] / scale[0], -127);
	layer(weights, input, FEATURES, first, scale[1]);
	layer(weights + WIDTH * FEATURES, first, WIDTH, second, scale[2]);
	for (int j = 0; j < WIDTH; j++)
		out += weights[WIDTH * FEATURES + WIDTH * WIDTH + j] * second[j];
	out = tanh(out * scale[3]);
	return out >= 0 ? 1 + 0.2 * out : 1 / (1 - 0.2 * out);
}

/*
 * The trees (tree.py), within what a multiplier can be. `parameters`: how many, their depth, their bias; for each tree the
 * feature and the border that each bit asks for, and its leaves.
 */
double trees(const void *parameters, const double *features)
{
	const double *given = parameters, *tree = given + 3;
	int depth = (int)given[1];
	double sum = given[2];

	for (int i = 0; i < (int)given[0]; i++) {
		int leaf = 0;

		for (int bit = 0; bit < depth; bit++, tree += 2)
			leaf |= ((float)features[(int)tree[0]] > tree[1]) << bit;
		sum += tree[leaf];
		tree += 1 << depth;
	}
	return sum < 1 / 1.2 ? 1 / 1.2 : sum > 1.2 ? 1.2 : sum;
}

/* What RTTs in a row without congestion add to an increase: observation.py. */
static double ramped(const struct model *m, int64_t f)
{
	double more = m->ramp * (double)(m->idle[f] - PATIENCE);

	return 1 + (more < 0 ? 0 : more > STEEPEST ? STEEPEST : more);
}

static void decide(struct model *m, int64_t f)
{
	double inflation = 1 + m->wait[f] / m->base_rtt, excess = inflation - m->beta, factor;
	double x = 12.5 * ((excess > 0 ? excess : 0) * sqrt(m->rate[f]) - m->target);
	double features[FEATURES];

	m->decisions[f]++;
	if (m->controller) {
		m->rate[f] = m->controller(m->state, f, m->base_rtt + m->wait[f]);
		return;
	}
	if (x > m->highest_x)
		x = m->highest_x;
	features[0] = m->oldest[f];
	features[1] = m->fresh[f] ? x : m->signal[f];
	features[2] = m->newest[f];
	features[3] = x;
	factor = m->policy(m->parameters, features);
	if (m->length < m->most) {
		memcpy(m->features + m->length * FEATURES, features, sizeof(features));
		m->sequence[m->length++] = f + m->flows * m->episode[f];
	}
	m->oldest[f] = m->newest[f];
	m->newest[f] = factor;
	m->signal[f] = x;
	m->fresh[f] = 0;
	m->idle[f] = excess > 0 ? 0 : m->idle[f] + 1;
	m->rate[f] *= factor * ramped(m, f);
	if (m->rate[f] > 1)
		m->rate[f] = 1;
	if (m->rate[f] < m->least_rate)
		m->rate[f] = m->least_rate;
}

/* Begin anew at random times within the window, for a random while. */
static void restart(struct model *m, int64_t e)
{
	double window = uniform(m) * m->window;

	for (int64_t f = 0; f < m->flows; f++) {
		if (m->environment[f] != e)
			continue;
		m->start[f] = m->now + uniform(m) * window;
		m->due[f] = INFINITY;
		m->episode[f]++;
	}
	memset(m->ring + e * (m->half + 1), 0, sizeof(double) * (m->half + 1));
	m->queue[e] = 0;
	m->reset_at[e] = m->now + m->shortest + uniform(m) * (m->longest - m->shortest);
}

static void start(struct model *m, int64_t f)
{
	m->rate[f] = m->start_rate;
	m->oldest[f] = m->newest[f] = 1;
	m->fresh[f] = 1;
	m->idle[f] = 0;
	m->phase[f] = TO_SEND;
	m->due[f] = m->start[f];
	m->start[f] = INFINITY;
}

/* The flows of one environment, from `f` on, send for a step. Returns the next environment's first flow. */
static int64_t send(struct model *m, int64_t f, int64_t into)
{
	const int64_t *environment = m->environment, e = environment[f], flows = m->flows;
	const double *rate = m->rate, *due = m->due, *start_at = m->start, now = m->now, step = m->step;
	double *sent = m->sent, *slot = m->ring + e * (m->half + 1) + into, sum = *slot;

	for (; f < flows && environment[f] == e; f++) {
		if (start_at[f] <= now)
			start(m, f);
		if (due[f] < INFINITY) {
			sum += rate[f] * step;
			sent[f] += rate[f] * step;
		}
	}
	*slot = sum;
	return f;
}

/* The probe of a flow is due: it is sent, at the queue, or back. */
static void probe(struct model *m, int64_t f)
{
	if (m->phase[f] == TO_SEND) {
		m->phase[f] = TO_QUEUE;
		m->due[f] += m->base_rtt / 2;
	}
	if (m->phase[f] == TO_QUEUE && m->due[f] <= m->now) {
		m->wait[f] = m->queue[m->environment[f]];
		m->phase[f] = BACK;
		m->due[f] += m->wait[f] + (m->base_rtt / 2 + m->delay);
	}
	if (m->phase[f] == BACK && m->due[f] <= m->now) {
		m->phase[f] = TO_SEND;
		decide(m, f);
	}
}

static void one_step(struct model *m)
{
	const double *due = m->due, now = m->now + m->step;
	int64_t slots = m->half + 1, into = (m->at + m->half) % slots;

	m->now = now;
	for (int64_t e = 0; e < m->environments; e++)
		if (m->reset_at[e] <= m->now)
			restart(m, e);
	for (int64_t f = 0; f < m->flows;)
		f = send(m, f, into);
	for (int64_t e = 0; e < m->environments; e++) {
		double *slot = m->ring + e * slots + m->at, after = m->queue[e] + *slot - m->step;

		*slot = 0;
		if (after > m->buffer) {
			m->dropped[e] += after - m->buffer;
			after = m->buffer;
		}
		m->queue[e] = after > 0 ? after : 0;
		m->area[e] += m->queue[e];
		m->square[e] += m->queue[e] * m->queue[e];
	}
	m->at = (m->at + 1) % slots;
	for (int64_t f = 0; f < m->flows; f++)
		if (due[f] <= now)
			probe(m, f);
}

/* Go on until every flow has decided `enough` times (0: never mind), the first one is that fast, or for `most` steps.
 * Returns the steps made.
 */
int64_t advance(struct model *m, int64_t enough, int64_t most)
{
	int64_t steps = 0;

	while (steps < most) {
		int64_t waiting = 0;

		one_step(m);
		steps++;
		if (steps % 4 == 0 && m->rate[0] >= m->reach)
			break;
		if (!enough || steps % 16)
			continue;
		for (int64_t f = 0; f < m->flows && !waiting; f++)
			waiting = m->decisions[f] < enough;
		if (!waiting)
			break;
	}
	return steps;
}
