/* SPDX-License-Identifier: Apache-2.0 */
/* ADPG for program.c: its rate, and the window of the testbed's controller as far as a NIC without windows has one. */
#include "adpg_fixed.h"
#include "controller.h"
#include "numbers.h"

uint32_t controller_start(uint32_t own[OWN_WORDS], const uint32_t *parameters)
{
	adpg_start((struct adpg_flow *)own, parameters);
	return parameters[START_RATE_FXP20];
}

/* The rate at which WINDOW_FXP16 base RTTs of line rate are in flight: window / RTT. */
static uint32_t window_rate(const struct adpg_flow *flow, const uint32_t *parameters, uint32_t rtt)
{
	const uint64_t window = (uint64_t)adpg_base_rtt(flow, parameters) * parameters[WINDOW_FXP16] >> 16;

	if (window == 0 || window >= rtt)
		return LINE_RATE;
	return ratio((uint32_t)window, rtt) >> 12;
}

uint32_t controller_decide(uint32_t own[OWN_WORDS], const uint32_t *parameters, const struct answer *answer,
			   uint32_t *met)
{
	struct adpg_flow *flow = (struct adpg_flow *)own;
	const uint32_t limits = adpg_decide(flow, parameters, answer->rtt);
	const uint32_t most = window_rate(flow, parameters, answer->rtt);

	*met |= limits & ADPG_FACTOR_LIMITED ? MET_FACTOR_LIMIT : 0;
	*met |= limits & ADPG_AT_LEAST ? MET_LEAST : 0;
	*met |= limits & ADPG_AT_LINE ? MET_MOST : 0;
	return limited(flow->rate >> ADPG_TO_DOCA_RATE, 1, most ? most : 1);
}
