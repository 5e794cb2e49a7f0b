/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swift (Kumar et al., SIGCOMM 2020, section 3) in its RTT form: one answer per round trip stands for all packets that
 * were acknowledged in it. The window is kept in packets with 18 bits of fraction; a NIC has no window, so the flow is
 * paced at window / RTT. controllers/exports/swift.py is the same in Python, bit for bit.
 */
#include "controller.h"
#include "numbers.h"
#include "parameters.h"

#define PACKET (1u << 18)

struct swift {
	uint32_t window;
};

typedef char swift_fits[sizeof(struct swift) <= 4 * OWN_WORDS ? 1 : -1];

uint32_t controller_start(uint32_t own[OWN_WORDS], const uint32_t *parameters)
{
	((struct swift *)own)->window = parameters[INITIAL_WINDOW_FXP18];
	return parameters[START_RATE_FXP20];
}

/* Section 3.5: a flow with a small window tolerates more delay. */
static uint64_t target(const uint32_t *parameters, uint32_t window)
{
	const uint32_t scaled = over_root(parameters[FS_ALPHA_NS], window), offset = parameters[FS_OFFSET_NS];
	const uint32_t scaling = scaled > offset ? scaled - offset : 0;

	return (uint64_t)parameters[BASE_TARGET_NS] + limited(scaling, 0, parameters[FS_RANGE_NS]);
}

/* What a cut takes off, 32 bits of fraction: Algorithm 1. */
static uint32_t cut(const uint32_t *parameters, uint64_t wanted, const struct answer *answer)
{
	const uint32_t most = parameters[MOST_CUT_FXP16] << 16;
	uint64_t share;

	if (answer->losses)
		return most;
	share = (uint64_t)ratio(answer->rtt - (uint32_t)wanted, answer->rtt) * parameters[BETA_FXP16] >> 16;
	return share < most ? (uint32_t)share : most;
}

uint32_t controller_decide(uint32_t own[OWN_WORDS], const uint32_t *parameters, const struct answer *answer,
			   uint32_t *met)
{
	struct swift *flow = (struct swift *)own;
	const uint64_t wanted = target(parameters, flow->window);
	uint64_t window = flow->window;
	uint32_t rate;

	if (answer->losses || answer->rtt >= wanted)
		window -= window * cut(parameters, wanted, answer) >> 32;
	else
		window += (uint64_t)limited(flow->window, 0, PACKET) * parameters[ADDITIVE_FXP16] >> 16;
	if (window <= parameters[LEAST_WINDOW_FXP18]) {
		window = parameters[LEAST_WINDOW_FXP18];
		*met |= MET_LEAST;
	} else if (window >= parameters[MOST_WINDOW_FXP18]) {
		window = parameters[MOST_WINDOW_FXP18];
		*met |= MET_MOST;
	}
	flow->window = (uint32_t)window;
	rate = wide_ratio(window * parameters[PACKET_NS_FXP16], answer->rtt);
	return rate ? rate : 1;
}
