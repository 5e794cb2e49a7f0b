/* SPDX-License-Identifier: Apache-2.0 */
#include "adpg_fixed.h"

#include "adpg_tables.h"

typedef char adpg_flow_fits[sizeof(struct adpg_flow) == 32 ? 1 : -1];

void adpg_start(struct adpg_flow *flow, const uint32_t *parameters)
{
	flow->rate = parameters[START_RATE_FXP20] << ADPG_TO_DOCA_RATE;
	flow->oldest = flow->newest = ADPG_ONE;
	flow->signal = 0;
	flow->decided = 0;
	flow->least_rtt = 0;
	flow->idle = 0;
}

/* Square root with 29 bits of fraction: a table over two powers of two, and lines in between. */
uint32_t adpg_root(uint32_t rate)
{
	uint32_t shift = 0, low, step;

	if (rate == 0)
		return 0;
	for (; rate < ADPG_LINE; shift++)
		rate <<= 2;
	step = (rate >> 24) - 64;
	low = adpg_roots[step];
	return (low + (uint32_t)((uint64_t)(adpg_roots[step + 1] - low) * (rate & 0xffffff) >> 24)) >> shift;
}

int32_t adpg_signal(const uint32_t *parameters, uint32_t rtt, uint32_t base_rtt, uint32_t rate)
{
	uint64_t free = (uint64_t)base_rtt + parameters[THRESHOLD_NS];
	uint64_t excess = rtt > free ? rtt - free : 0;
	uint64_t inflation = excess * parameters[INVERSE_RTT_FXP32] >> 12, x; /* 20 bits of fraction */
	const uint32_t aim = parameters[AIM_FXP16];

	if (inflation > 1u << 31)
		inflation = 1u << 31;
	x = inflation * adpg_root(rate) >> 25; /* 24 */
	x = x * ADPG_TWICE_SCALE >> 9;          /* 16 */
	if (x > (uint64_t)ADPG_HIGHEST_X + aim)
		x = (uint64_t)ADPG_HIGHEST_X + aim;
	return (int32_t)((int64_t)x - aim);
}

uint32_t adpg_multiplier(const int32_t features[ADPG_FEATURES])
{
	int32_t sum = ADPG_BIAS;

	for (int tree = 0; tree < ADPG_TREES; tree++) {
		uint32_t leaf = 0;

		for (int bit = 0; bit < ADPG_DEPTH; bit++) {
			const struct adpg_question *question = &adpg_questions[tree][bit];

			leaf |= (uint32_t)(features[question->feature] > question->border) << bit;
		}
		sum += adpg_leaves[tree][leaf];
	}
	return ((uint32_t)(sum > 0 ? sum : 0) + (1u << 7)) >> 8;
}

static uint32_t limited(uint32_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* As doca_pcc_dev_fxp_mult does: truncated. */
static uint32_t scaled(uint32_t value, uint32_t factor)
{
	return (uint32_t)((uint64_t)value * factor >> 16);
}

uint32_t adpg_base_rtt(const struct adpg_flow *flow, const uint32_t *parameters)
{
	return parameters[BASE_RTT_NS] ? parameters[BASE_RTT_NS] : flow->least_rtt;
}

/* The factor after the ramp, which the policy does not know of. */
static uint32_t ramped(struct adpg_flow *flow, const uint32_t *parameters, uint32_t factor)
{
	uint32_t more = 0;

	if (flow->signal > -(int32_t)parameters[AIM_FXP16])
		flow->idle = 0;
	else if (flow->idle < ADPG_LONGEST)
		flow->idle++;
	if (flow->idle > ADPG_PATIENCE)
		more = parameters[RAMP_FXP16] * (flow->idle - ADPG_PATIENCE);
	return scaled(factor, ADPG_ONE + limited(more, 0, ADPG_STEEPEST));
}

/* Returns which limits it met. */
uint32_t adpg_decide(struct adpg_flow *flow, const uint32_t *parameters, uint32_t rtt)
{
	const uint32_t least = parameters[LEAST_RATE_FXP20] << ADPG_TO_DOCA_RATE;
	uint32_t wanted, factor, rate, met = 0;
	int32_t x, features[ADPG_FEATURES];

	if (flow->least_rtt == 0 || rtt < flow->least_rtt)
		flow->least_rtt = rtt;
	x = adpg_signal(parameters, rtt, adpg_base_rtt(flow, parameters), flow->rate);
	features[0] = (int32_t)flow->oldest;
	features[1] = flow->decided ? flow->signal : x;
	features[2] = (int32_t)flow->newest;
	features[3] = x;
	wanted = adpg_multiplier(features);
	factor = limited(wanted, parameters[LEAST_FACTOR_FXP16], parameters[MOST_FACTOR_FXP16]);
	flow->oldest = flow->newest;
	flow->newest = factor;
	flow->signal = x;
	flow->decided = 1;
	rate = scaled(flow->rate, ramped(flow, parameters, factor));
	flow->rate = limited(rate, least, ADPG_LINE);
	met |= factor != wanted ? ADPG_FACTOR_LIMITED : 0;
	met |= rate < least ? ADPG_AT_LEAST : 0;
	met |= rate > ADPG_LINE ? ADPG_AT_LINE : 0;
	return met;
}
