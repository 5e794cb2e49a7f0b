/* SPDX-License-Identifier: Apache-2.0 */
#include "aimd.h"

/* A step up, or a share down: one on a long delay, two on a CNP, five on a NACK with a very long RTT. */
uint32_t aimd_decided(struct aimd *flow, const uint32_t *parameters, uint32_t rtt)
{
	const uint32_t one = 1u << 16, share = parameters[UPDATE_FACTOR];
	uint32_t rate = flow->rate;

	if (rtt < flow->least_rtt)
		flow->least_rtt = rtt;
	if (flow->nack && rtt >= parameters[MAX_DELAY]) {
		rate = doca_pcc_dev_fxp_mult(rate, one - 5 * share);
		flow->nack = 0;
	} else if (flow->cnp || rtt >= parameters[MAX_DELAY]) {
		rate = doca_pcc_dev_fxp_mult(rate, one - 2 * share);
		flow->cnp = 0;
	} else if (rtt - flow->least_rtt > parameters[BASE_RELATIVE_RTT]) {
		rate = doca_pcc_dev_fxp_mult(rate, one - share);
	} else {
		rate += parameters[AI];
	}
	if (rate < parameters[MIN_RATE])
		rate = parameters[MIN_RATE];
	return rate > DOCA_PCC_DEV_MAX_RATE ? DOCA_PCC_DEV_MAX_RATE : rate;
}
