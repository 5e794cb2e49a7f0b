/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow from its start, by round-trip times, to the rates that it sends at:
 *
 *	cc -std=c99 -O2 example.c adpg.c adpg_trees.c -lm -o example && ./example
 */
#include "adpg.h"

#include <stdio.h>

/* The options of the export. */
static const struct adpg_config config = {.beta = $beta, .target = $target, .reference_rtt = $reference_rtt, .ramp = $ramp};

int main(void)
{
	const double line_rate = 100e9; /* bit/s */
	const double base_rtt = 8e-6;   /* of the flow's path, configured */
	const double rtts[] = {8e-6, 30e-6, 60e-6, 40e-6, 20e-6, 12e-6, 8e-6, 8e-6}; /* yours are measured */
	struct adpg_flow flow;

	adpg_start(&flow, $start_rate);
	for (int k = 0; k < (int)(sizeof rtts / sizeof rtts[0]); k++) {
		double multiplier = adpg_decide(&flow, &config, rtts[k], base_rtt);

		adpg_apply(&flow, multiplier);
		printf("RTT %4.1f us: send at %6.2f Gbit/s\n", rtts[k] * 1e6, flow.rate * line_rate / 1e9);
	}
	return 0;
}
