/* SPDX-License-Identifier: Apache-2.0 */
/* The portable export, for arrays. */
#include <stdint.h>

#include "adpg.h"

void multipliers(int64_t n, const double *features, double *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = adpg_trees(features + ADPG_FEATURES * i);
}

/* One decision after the other; `rate` after each. */
void decisions(int64_t n, const struct adpg_config *config, double start_rate, const int64_t *flow, const double *rtt,
	       const double *base_rtt, struct adpg_flow *flows, double *rate)
{
	for (int64_t i = 0; i < n; i++) {
		struct adpg_flow *one = &flows[flow[i]];

		if (one->rate <= 0)
			adpg_start(one, start_rate);
		adpg_apply(one, adpg_decide(one, config, rtt[i], base_rtt[i]));
		rate[i] = one->rate;
	}
}
