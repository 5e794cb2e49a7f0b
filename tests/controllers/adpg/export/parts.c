/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the controller in whole numbers, for arrays. */
#include "adpg_fixed.h"

void roots(int64_t n, const int64_t *rate, int64_t *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = adpg_root((uint32_t)rate[i]);
}

void signals(int64_t n, const uint32_t *parameters, const int64_t *rtt, const int64_t *base_rtt, const int64_t *rate,
	     int64_t *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = adpg_signal(parameters, (uint32_t)rtt[i], (uint32_t)base_rtt[i], (uint32_t)rate[i]);
}

void multipliers(int64_t n, const int64_t *features, int64_t *out)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t narrow[ADPG_FEATURES];

		for (int f = 0; f < ADPG_FEATURES; f++)
			narrow[f] = (int32_t)features[ADPG_FEATURES * i + f];
		out[i] = adpg_multiplier(narrow);
	}
}

/* One decision after the other; `rate` as it is kept, after each. */
void decisions(int64_t n, const uint32_t *parameters, const int64_t *flow, const int64_t *rtt, struct adpg_flow *flows,
	       int64_t *rate)
{
	for (int64_t i = 0; i < n; i++) {
		struct adpg_flow *one = &flows[flow[i]];

		if (one->rate == 0)
			adpg_start(one, parameters);
		adpg_decide(one, parameters, (uint32_t)rtt[i]);
		rate[i] = one->rate;
	}
}

/* For the closed loop in rollout.c, which hears RTTs in s and wants shares of line rate; and what was heard. */
struct loop {
	const uint32_t *parameters;
	struct adpg_flow *flows;
	int64_t most, length, *flow, *rtt, *rate;
};

double in_loop(void *state, int64_t flow, double rtt)
{
	struct loop *loop = state;
	struct adpg_flow *one = &loop->flows[flow];
	uint32_t ns = (uint32_t)(rtt * 1e9 + 0.5);

	if (one->rate == 0)
		adpg_start(one, loop->parameters);
	adpg_decide(one, loop->parameters, ns);
	if (loop->length < loop->most) {
		loop->flow[loop->length] = flow;
		loop->rtt[loop->length] = ns;
		loop->rate[loop->length++] = one->rate;
	}
	return (double)(one->rate >> ADPG_TO_DOCA_RATE) / (1 << 20);
}
