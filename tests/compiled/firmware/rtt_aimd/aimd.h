/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AIMD_H
#define AIMD_H

#include <doca_pcc_dev_algo_access.h>
#include <doca_pcc_dev_event.h>

struct aimd {
	uint32_t rate; /* 0: a new flow */
	uint32_t asked_at, least_rtt, doublings;
	uint8_t cnp, nack;
};

enum { UPDATE_FACTOR, AI, BASE_RELATIVE_RTT, NEW_FLOW_RATE, MIN_RATE, MAX_DELAY, PARAMETERS };
enum { TX_EVENTS, RTT_EVENTS, COUNTERS };

uint32_t aimd_decided(struct aimd *flow, const uint32_t *parameters, uint32_t rtt);

#endif
