/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow that is alone at first and then meets a queue: what it is told, and what it sends at.
 *
 *	cc -std=c99 -O2 example.c decc.c decc_policy.c -lm -o example && ./example
 */
#include "decc.h"

#include <stdio.h>

int main(void)
{
	const struct decc_path path = {.line_rate = 100e9, .base_rtt = 8e-6, .packet = 1078};
	const double rtts[] = {8e-6, 8e-6, 12e-6, 16e-6, 20e-6, 16e-6, 12e-6, 8e-6}; /* yours are measured */
	struct decc_flow flow;
	double now = 0;

	decc_start(&flow, &path);
	for (int k = 0; k < (int)(sizeof rtts / sizeof rtts[0]); k++) {
		int packets = (int)(flow.rate * 1.5 * rtts[k] / 8 / path.packet);

		now += 1.5 * rtts[k]; /* one ACK for what 1.5 RTTs brought: enough to end a period */
		decc_ack(&flow, &path, now, rtts[k], packets, packets * path.packet);
		printf("RTT %4.1f us: send at %6.2f Gbit/s, %6.0f bytes in flight\n", rtts[k] * 1e6, flow.rate / 1e9, flow.window);
	}
	return 0;
}
