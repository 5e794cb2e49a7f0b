/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADPG as a reaction point of DOCA PCC: events in, rates out. The loop clocks itself: each answer to a probe is one
 * decision and asks for the next probe; if no answer comes, whatever event comes next asks again, ever later.
 */
#include <doca_pcc_dev.h>
#include <doca_pcc_dev_algo_access.h>
#include <doca_pcc_dev_event.h>

#include "adpg_defaults.h"
#include "adpg_fixed.h"

#define ALGORITHM 0 /* index, and the slot whose parameters and counters serve all slots */
#define ALGORITHM_ID 0xAD96
#define MOST_PATIENCE 5 /* doublings */
#define JUST_BEFORE (1u << 26) /* ns: how far back events reach; what seems older is a clock that went round */

enum {
	RTT_EVENTS,
	TX_EVENTS,
	CNP_EVENTS,
	NACK_EVENTS,
	OTHER_EVENTS,
	NEW_FLOWS,
	DECISIONS,
	DECREASES,
	INCREASES,
	FACTORS_LIMITED,
	AT_LEAST_RATE,
	AT_LINE_RATE,
	LATE_ANSWERS,
	PROBES_AGAIN,
	INTERNAL_SLOT,
	COUNTERS
};

/* Not atomic: threads may lose a count, which a rate over time does not show. */
static void count(uint32_t *counters, int number)
{
	if (counters) /* NULL while counters are disabled */
		counters[number]++;
}

static void count_event(uint32_t *counters, uint32_t type)
{
	switch (type) {
	case DOCA_PCC_DEV_EVNT_RTT:
		count(counters, RTT_EVENTS);
		break;
	case DOCA_PCC_DEV_EVNT_ROCE_TX:
		count(counters, TX_EVENTS);
		break;
	case DOCA_PCC_DEV_EVNT_ROCE_CNP:
		count(counters, CNP_EVENTS);
		break;
	case DOCA_PCC_DEV_EVNT_ROCE_NACK:
		count(counters, NACK_EVENTS);
		break;
	default:
		count(counters, OTHER_EVENTS);
	}
}

static void ask(struct adpg_flow *flow, uint32_t now, doca_pcc_dev_results_t *results)
{
	flow->asked_at = now;
	results->rtt_req = 1;
}

/* An answer to a probe. One that was sent before the last request does not show what the last decision did. */
static void answer(struct adpg_flow *flow, const uint32_t *parameters, uint32_t *counters, uint32_t sent,
		   uint32_t now, doca_pcc_dev_results_t *results)
{
	uint32_t met;

	if (flow->asked_at - sent - 1 < JUST_BEFORE) {
		count(counters, LATE_ANSWERS);
		return;
	}
	met = adpg_decide(flow, parameters, now - sent); /* unsigned: right when the clock wraps */
	count(counters, DECISIONS);
	if (flow->newest != ADPG_ONE)
		count(counters, flow->newest < ADPG_ONE ? DECREASES : INCREASES);
	if (met & ADPG_FACTOR_LIMITED)
		count(counters, FACTORS_LIMITED);
	if (met & ADPG_AT_LEAST)
		count(counters, AT_LEAST_RATE);
	if (met & ADPG_AT_LINE)
		count(counters, AT_LINE_RATE);
	flow->patience = parameters[ADPG_PATIENCE];
	ask(flow, now, results);
}

/* Any other event: it only shows how late it is. Events come out of order, some from before the request. */
static void wait_on(struct adpg_flow *flow, const uint32_t *parameters, uint32_t *counters, uint32_t now,
		    doca_pcc_dev_results_t *results)
{
	if (now - flow->asked_at + JUST_BEFORE <= flow->patience + JUST_BEFORE)
		return;
	if (flow->patience < parameters[ADPG_PATIENCE] << MOST_PATIENCE)
		flow->patience <<= 1;
	count(counters, PROBES_AGAIN);
	ask(flow, now, results);
}

void doca_pcc_dev_user_algo(doca_pcc_dev_algo_ctxt_t *algo_ctxt, doca_pcc_dev_event_t *event,
			    const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results)
{
	const doca_pcc_dev_event_general_attr_t general = doca_pcc_dev_get_ev_attr(event);
	const uint32_t *parameters = doca_pcc_dev_get_algo_params(general.port_num, ALGORITHM);
	uint32_t *counters = doca_pcc_dev_get_counters(general.port_num, ALGORITHM);
	uint32_t now = doca_pcc_dev_get_timestamp(event);
	struct adpg_flow *flow = (struct adpg_flow *)algo_ctxt;

	count_event(counters, general.ev_type);
	/* Connections that were made without an algorithm have the internal slot: they are controlled as well. */
	if (attr->algo_slot == DOCA_PCC_DEV_ALGO_SLOT_INTERNAL)
		count(counters, INTERNAL_SLOT);
	results->rtt_req = 0;
	if (flow->rate == 0) {
		count(counters, NEW_FLOWS);
		adpg_start(flow, parameters);
		flow->patience = parameters[ADPG_PATIENCE];
		ask(flow, now, results);
	} else if (general.ev_type == DOCA_PCC_DEV_EVNT_RTT) {
		answer(flow, parameters, counters, doca_pcc_dev_get_rtt_req_send_timestamp(event), now, results);
	} else {
		wait_on(flow, parameters, counters, now, results);
	}
	results->rate = flow->rate >> ADPG_TO_DOCA_RATE;
}

struct range {
	uint32_t least, most;
};

static const struct range ranges[ADPG_PARAMETERS] = {
	[ADPG_START_RATE] = {1, 1 << 20},
	[ADPG_LEAST_RATE] = {1, 1 << 20},
	[ADPG_BASE_RTT] = {0, 1000000000},
	[ADPG_THRESHOLD] = {0, 1000000000},
	[ADPG_INVERSE_RTT] = {1, (1 << 23) - 1},
	[ADPG_AIM] = {1, ADPG_HIGHEST_X},
	[ADPG_LEAST_FACTOR] = {ADPG_ONE / 2, ADPG_ONE},
	[ADPG_MOST_FACTOR] = {ADPG_ONE, ADPG_ONE * 2},
	[ADPG_PATIENCE] = {1000, 60000000},
};

/* The description stays where it is: DOCA keeps its address. "most" comes before "least" in its call. */
#define PARAMETER(number, initial, text)                                                                        \
	do {                                                                                                    \
		static const volatile char description[] = text;                                                \
		doca_pcc_dev_algo_init_param(ALGORITHM, number, initial, ranges[number].most, ranges[number].least, 1, \
					     sizeof(description), (uint64_t)(uintptr_t)description);              \
	} while (0)

#define COUNTER(number, text)                                                                                   \
	do {                                                                                                    \
		static const volatile char description[] = text;                                                \
		doca_pcc_dev_algo_init_counter(ALGORITHM, number, UINT32_MAX, 2, sizeof(description),            \
					       (uint64_t)(uintptr_t)description);                               \
	} while (0)

static void register_parameters(void)
{
	PARAMETER(ADPG_START_RATE, ADPG_DEFAULT_START_RATE, "START_RATE, of a new flow, fxp20 of line rate");
	PARAMETER(ADPG_LEAST_RATE, ADPG_DEFAULT_LEAST_RATE, "LEAST_RATE, of any flow, fxp20 of line rate");
	PARAMETER(ADPG_BASE_RTT, ADPG_DEFAULT_BASE_RTT, "BASE_RTT, through empty queues, ns; 0: least seen");
	PARAMETER(ADPG_THRESHOLD, ADPG_DEFAULT_THRESHOLD, "THRESHOLD, queueing without congestion, ns");
	PARAMETER(ADPG_INVERSE_RTT, ADPG_DEFAULT_INVERSE_RTT, "INVERSE_RTT, 2^32 / reference RTT in ns");
	PARAMETER(ADPG_AIM, ADPG_DEFAULT_AIM, "AIM, 12.5 times the target, fxp16");
	PARAMETER(ADPG_LEAST_FACTOR, ADPG_DEFAULT_LEAST_FACTOR, "LEAST_FACTOR, of one decision, fxp16");
	PARAMETER(ADPG_MOST_FACTOR, ADPG_DEFAULT_MOST_FACTOR, "MOST_FACTOR, of one decision, fxp16");
	PARAMETER(ADPG_PATIENCE, ADPG_DEFAULT_PATIENCE, "PATIENCE, until a probe counts as lost, ns");
}

static void register_counters(void)
{
	COUNTER(RTT_EVENTS, "RTT_EVENTS, answers to probes");
	COUNTER(TX_EVENTS, "TX_EVENTS, bursts sent");
	COUNTER(CNP_EVENTS, "CNP_EVENTS, congestion notifications, not used");
	COUNTER(NACK_EVENTS, "NACK_EVENTS, losses, not used");
	COUNTER(OTHER_EVENTS, "OTHER_EVENTS, events of other types");
	COUNTER(NEW_FLOWS, "NEW_FLOWS, flows started");
	COUNTER(DECISIONS, "DECISIONS, rates decided");
	COUNTER(DECREASES, "DECREASES, decisions that lowered the rate");
	COUNTER(INCREASES, "INCREASES, decisions that raised the rate");
	COUNTER(FACTORS_LIMITED, "FACTORS_LIMITED, multipliers beyond their limits");
	COUNTER(AT_LEAST_RATE, "AT_LEAST_RATE, rates held at the least");
	COUNTER(AT_LINE_RATE, "AT_LINE_RATE, rates held at line rate");
	COUNTER(LATE_ANSWERS, "LATE_ANSWERS, answers to probes from before the last request");
	COUNTER(PROBES_AGAIN, "PROBES_AGAIN, probes that had no answer in time");
	COUNTER(INTERNAL_SLOT, "INTERNAL_SLOT, events of connections without a slot of ours");
}

void doca_pcc_dev_user_init(uint32_t *disable_event_bitmask)
{
	static const volatile char description[] = "ADPG, learned congestion control as decision trees";
	struct doca_pcc_dev_algo_meta_data about = {
		.algo_id = ALGORITHM_ID,
		.algo_major_version = 1,
		.algo_minor_version = 0,
		.algo_desc_size = sizeof(description),
		.algo_desc_addr = (uint64_t)(uintptr_t)description,
	};

	doca_pcc_dev_algo_init_metadata(ALGORITHM, &about, ADPG_PARAMETERS, COUNTERS);
	register_parameters();
	register_counters();
	for (uint32_t port = 0; port < DOCA_PCC_DEV_MAX_NUM_PORTS; port++)
		doca_pcc_dev_init_algo_slot(port, ALGORITHM, ALGORITHM, 1);
	*disable_event_bitmask = 1u << DOCA_PCC_DEV_EVNT_ROCE_ACK;
}

/* The registers' own limits are enforced silently; these are the same, and refuse. */
doca_pcc_dev_error_t doca_pcc_dev_user_set_algo_params(uint32_t port_num, uint32_t algo_slot, uint32_t param_id_base,
						       uint32_t param_num, const uint32_t *new_param_values,
						       uint32_t *params)
{
	(void)params; /* stored by the caller */
	if (doca_pcc_dev_get_algo_index(port_num, algo_slot) != ALGORITHM)
		return DOCA_PCC_DEV_STATUS_FAIL;
	for (uint32_t i = 0; i < param_num; i++) {
		uint32_t number = param_id_base + i;

		if (number >= ADPG_PARAMETERS || new_param_values[i] < ranges[number].least ||
		    new_param_values[i] > ranges[number].most)
			return DOCA_PCC_DEV_STATUS_FAIL;
	}
	return DOCA_PCC_DEV_STATUS_OK;
}
