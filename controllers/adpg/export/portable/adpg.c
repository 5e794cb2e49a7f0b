/* SPDX-License-Identifier: Apache-2.0 */
#include "adpg.h"

#include <math.h>

static double limited(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

void adpg_start(struct adpg_flow *flow, double rate)
{
	flow->rate = rate;
	flow->oldest = flow->newest = 1;
	flow->signal = 0;
	flow->fresh = 1;
	flow->idle = 0;
}

double adpg_signal(const struct adpg_flow *flow, const struct adpg_config *config, double rtt, double base_rtt)
{
	double inflation = 1 + (rtt - base_rtt) / config->reference_rtt, excess = inflation - config->beta;
	double x = ADPG_SCALE * ((excess > 0 ? excess : 0) * sqrt(flow->rate) - config->target);

	return x > ADPG_HIGHEST_X ? ADPG_HIGHEST_X : x;
}

/* What the ramp adds to a multiplier after this signal. */
static double ramped(struct adpg_flow *flow, const struct adpg_config *config)
{
	if (flow->signal > -ADPG_SCALE * config->target)
		flow->idle = 0;
	else if (flow->idle < ADPG_LONGEST)
		flow->idle++;
	return limited(config->ramp * (flow->idle - ADPG_PATIENCE), 0, ADPG_STEEPEST);
}

double adpg_decide(struct adpg_flow *flow, const struct adpg_config *config, double rtt, double base_rtt)
{
	double x = adpg_signal(flow, config, rtt, base_rtt);
	double features[ADPG_FEATURES] = {flow->oldest, flow->fresh ? x : flow->signal, flow->newest, x};
	double multiplier = limited(adpg_trees(features), ADPG_DOWN, ADPG_UP);

	flow->oldest = flow->newest;
	flow->newest = multiplier;
	flow->signal = x;
	flow->fresh = 0;
	return multiplier * (1 + ramped(flow, config));
}

void adpg_apply(struct adpg_flow *flow, double multiplier)
{
	flow->rate = limited(flow->rate * multiplier, ADPG_LEAST_RATE, 1);
}
