/* SPDX-License-Identifier: Apache-2.0 */
#include "decc.h"

#include <math.h>
#include <string.h>

static double limited(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* A share of the path, from -1.5 at 1e-4 to 0.5 at 1. */
static double decades(double share)
{
	return 0.5 + 0.5 / log(10) * log(share > DECC_LEAST_SHARE ? share : DECC_LEAST_SHARE);
}

static double bdp(const struct decc_path *path)
{
	return path->line_rate * path->base_rtt / 8;
}

static void move_to(struct decc_flow *flow, const struct decc_path *path, double cwnd)
{
	double rate;

	flow->cwnd = limited(cwnd, path->packet * DECC_LEAST_WINDOW, DECC_MOST_WINDOW * bdp(path));
	flow->window = ceil(flow->cwnd / path->packet) * path->packet;
	rate = 8 * flow->cwnd / flow->rtt_average;
	flow->rate = rate < path->line_rate ? rate : path->line_rate;
}

static void begin(struct decc_flow *flow, double now)
{
	flow->begun = now;
	flow->turn = fmod(flow->turn + DECC_GOLDEN, 1);
	flow->until = now + DECC_STAGGER * flow->turn * flow->rtt_average;
	flow->acked = flow->rtts = flow->packets = flow->lost = 0;
}

/* The period that is over becomes the newest of the five; the first one fills all. */
static void observe(struct decc_flow *flow, const struct decc_path *path, double length)
{
	double rtt = flow->rtts / flow->packets, loss = flow->lost / flow->packets;
	double *newest = flow->seen + DECC_FEATURES - DECC_SEEN;

	flow->rtt_average += (rtt - flow->rtt_average) / 2;
	memmove(flow->seen, flow->seen + DECC_SEEN, (DECC_FEATURES - DECC_SEEN) * sizeof *flow->seen);
	newest[0] = decades(8 * flow->acked / length / path->line_rate);
	newest[1] = sqrt(limited(rtt / path->base_rtt - 1, 0, DECC_MOST_DELAY));
	newest[2] = loss < 1 ? loss : 1;
	newest[3] = decades(flow->cwnd / bdp(path));
	newest[4] = decades(flow->rate / path->line_rate);
	if (flow->fresh)
		for (int i = 0; i < DECC_FEATURES - DECC_SEEN; i++)
			flow->seen[i] = newest[i % DECC_SEEN];
	flow->fresh = 0;
}

void decc_start(struct decc_flow *flow, const struct decc_path *path)
{
	memset(flow, 0, sizeof *flow);
	flow->rtt_average = path->base_rtt;
	flow->begun = -1;
	flow->halved = -HUGE_VAL;
	flow->fresh = 1;
	move_to(flow, path, bdp(path));
}

int decc_ack(struct decc_flow *flow, const struct decc_path *path, double now, double rtt, int packets, double bytes)
{
	double action;

	if (flow->begun < 0) { /* what came before it is no whole period */
		begin(flow, now);
		return 0;
	}
	if (!packets)
		return 0;
	flow->packets += packets;
	flow->acked += bytes;
	flow->rtts += packets * rtt;
	if (now - rtt < flow->until)
		return 0;
	observe(flow, path, now - flow->begun);
	action = limited(decc_policy(flow->seen), -DECC_MOST_ACTION, DECC_MOST_ACTION);
	move_to(flow, path, flow->cwnd * (action >= 0 ? 1 + DECC_ALPHA * action : 1 / (1 - DECC_ALPHA * action)));
	begin(flow, now);
	return 1;
}

void decc_loss(struct decc_flow *flow, int packets)
{
	flow->lost += packets;
}

void decc_timeout(struct decc_flow *flow, const struct decc_path *path, double now)
{
	if (now - flow->halved >= flow->rtt_average) {
		flow->halved = now;
		move_to(flow, path, flow->cwnd / 2);
	}
}
