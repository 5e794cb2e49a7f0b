/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADPG in C99: the whole controller, from a round-trip time to a rate. No allocation, no global state, no libc beyond
 * sqrt(). Times are in seconds, rates are shares of the line rate.
 *
 *	adpg_start(&flow, 1.0);
 *	once per RTT, with the RTT of a packet that was sent after the last decision took effect:
 *		adpg_apply(&flow, adpg_decide(&flow, &config, rtt, base_rtt));
 *		send at flow.rate * line rate
 *
 * example.c does all of it.
 */
#ifndef ADPG_H
#define ADPG_H

#ifdef __cplusplus
extern "C" {
#endif

enum { ADPG_FEATURES = 4 };

#define ADPG_LEAST_RATE 1e-5      /* a multiplier never comes back from nothing */
#define ADPG_HIGHEST_X 8.0        /* or the start of an incast would drown everything else */
#define ADPG_SCALE 12.5
#define ADPG_UP 1.2               /* of one decision; the policy was trained within these */
#define ADPG_DOWN (1.0 / 1.2)
#define ADPG_PATIENCE 44          /* RTTs in a row without congestion before a ramp */
#define ADPG_LONGEST 65535        /* RTTs that are counted */
#define ADPG_STEEPEST 0.1         /* most that a ramp adds to a multiplier */

struct adpg_config {
	double beta;          /* RTT inflation up to which there is no congestion */
	double target;        /* inflation beyond beta times sqrt(rate) that is aimed at */
	double reference_rtt; /* s: what an RTT's excess is measured in */
	double ramp;          /* what each RTT without congestion after these adds to the multiplier; 0: as published */
};

struct adpg_flow {
	double rate;
	double oldest, newest; /* multipliers of the last two decisions */
	double signal;         /* x at the last decision */
	int fresh;             /* no decision yet */
	int idle;              /* RTTs in a row without congestion, up to ADPG_LONGEST */
};

/* A flow begins, or begins anew. */
void adpg_start(struct adpg_flow *flow, double rate);

/* x, from -SCALE * target to ADPG_HIGHEST_X: 0 is the aim, more is congestion. */
double adpg_signal(const struct adpg_flow *flow, const struct adpg_config *config, double rtt, double base_rtt);

/* The multiplier for this RTT; it takes effect by adpg_apply. The policy's part of it is remembered, the ramp's is not. */
double adpg_decide(struct adpg_flow *flow, const struct adpg_config *config, double rtt, double base_rtt);

void adpg_apply(struct adpg_flow *flow, double multiplier);

/* The policy: m(k-2), x(k-1), m(k-1), x(k) to a multiplier, not limited. Generated. */
double adpg_trees(const double features[ADPG_FEATURES]);

#ifdef __cplusplus
}
#endif
#endif
