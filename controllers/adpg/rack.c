// SPDX-License-Identifier: Apache-2.0
/*
 * The exported controller (export/portable) for the rack: what came back for some flows at once, state in the columns
 * of controller.py. Mirrored field by field in compiled.py.
 */
#include <math.h>
#include <stdint.h>

#include "adpg.h"

struct columns {
	struct adpg_config config;
	double decision_delay; /* s */
	const double *base_rtt, *line_rate;
	double *share, *multipliers, *signal, *effect, *ready, *rate, *timer;
	int64_t *decided_seq;
	uint8_t *fresh;
};

static struct adpg_flow flow_of(const struct columns *c, int64_t f)
{
	return (struct adpg_flow){c->share[f], c->multipliers[2 * f], c->multipliers[2 * f + 1], c->signal[f], c->fresh[f]};
}

static void keep(struct columns *c, int64_t f, const struct adpg_flow *flow)
{
	c->share[f] = flow->rate;
	c->multipliers[2 * f] = flow->oldest;
	c->multipliers[2 * f + 1] = flow->newest;
	c->signal[f] = flow->signal;
	c->fresh[f] = (uint8_t)flow->fresh;
}

/* AdpgController.on_feedback for `n` flows. */
void adpg_feedback(struct columns *c, const int64_t *flows, const int64_t *acked_seq, const int64_t *next_seq,
		   const double *rtt, double now, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t f = flows[i];
		struct adpg_flow flow;
		double multiplier;

		if (acked_seq[i] + 1 < c->decided_seq[f] || !isfinite(rtt[i]) || now < c->ready[f])
			continue;
		flow = flow_of(c, f);
		multiplier = adpg_decide(&flow, &c->config, rtt[i], c->base_rtt[f]);
		c->decided_seq[f] = next_seq[i];
		if (c->decision_delay > 0) {
			c->effect[f] = multiplier;
			c->timer[f] = now + c->decision_delay;
			c->ready[f] = INFINITY;
		} else {
			adpg_apply(&flow, multiplier);
			c->rate[f] = flow.rate * c->line_rate[f];
		}
		keep(c, f, &flow);
	}
}

/* Multipliers for features of shape (n, 4), as the network's: not limited. */
void adpg_decide_all(const double *features, double *out, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = adpg_trees(features + ADPG_FEATURES * i);
}

/* For rollout.c. */
double adpg_policy(const void *parameters, const double *features)
{
	double multiplier = adpg_trees(features);

	(void)parameters;
	return multiplier < ADPG_DOWN ? ADPG_DOWN : multiplier > ADPG_UP ? ADPG_UP : multiplier;
}
