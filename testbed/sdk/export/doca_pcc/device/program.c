/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reaction point of DOCA PCC: events in, rates out; what to decide is the controller's (controller.h).
 *
 * With probes the loop clocks itself: each answer is one decision and asks for the next probe; if no answer comes,
 * whatever event comes next asks again, ever later. Without probes a decision is due at every event, or whenever
 * PATIENCE_NS are over.
 * A rate moves by at most LEAST_STEP and MOST_STEP per decision, whatever the controller or an operator wants: RC
 * connections do not survive a cut to a twentieth at once.
 */
#include <doca_pcc_dev.h>
#include <doca_pcc_dev_algo_access.h>
#include <doca_pcc_dev_event.h>

#include "controller.h"
#include "parameters.h"
#if CONTROLLER_TELEMETRY
#include "telemetry.h"
#endif

#define ALGORITHM 0 /* index, and the slot whose parameters and counters serve all slots */
#define MOST_DOUBLINGS 5
#define JUST_BEFORE (1u << 26) /* ns: how far back events reach; what seems older is a clock that went round */
#define MOST_LOSSES 0x1fff
#define MOST_COUNT 0xffff
#define APART (1u << 23) /* ns: times that a controller keeps count from a moment that is less than that ago */

/* DOCA gives 48 bytes per flow, all 0 for a new one. */
struct flow {
	uint32_t rate;     /* that the NIC was told; 0: a new flow */
	uint32_t asked_at; /* ns: when the last probe was asked for, or the last decision was made */
#if CONTROLLER_PROBES
	uint32_t losses : 13, doublings : 3, marks : 16; /* doublings of PATIENCE_NS, until a probe counts as lost */
	uint32_t packets : 16, number : 16;
#endif
	uint32_t own[OWN_WORDS];
};

typedef char flow_fits[sizeof(struct flow) == 48 ? 1 : -1];

enum {
#define NUMBER(name, text) name,
	COUNTERS(NUMBER)
#undef NUMBER
	COUNTER_COUNT
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

/* The rate one step on, towards the one that is wanted. */
static uint32_t stepped(uint32_t rate, uint32_t wanted, const uint32_t *parameters)
{
	uint32_t least = (uint32_t)((uint64_t)rate * parameters[LEAST_STEP_FXP16] >> 16);
	uint32_t most = (uint32_t)((uint64_t)rate * parameters[MOST_STEP_FXP16] >> 16) + 1;

	return limited(limited(wanted, least, most), 1, LINE_RATE);
}

static void decide(struct flow *flow, const uint32_t *parameters, uint32_t *counters, const struct answer *answer)
{
	uint32_t met = 0, before = flow->rate;
	uint32_t wanted = controller_decide(flow->own, parameters, answer, &met);

	flow->rate = stepped(before, wanted, parameters);
	count(counters, DECISIONS);
	if (flow->rate != before)
		count(counters, flow->rate < before ? DECREASES : INCREASES);
	if (flow->rate != wanted)
		count(counters, STEPS_LIMITED);
	if (met & MET_FACTOR_LIMIT)
		count(counters, FACTORS_LIMITED);
	if (met & MET_LEAST)
		count(counters, AT_LEAST);
	if (met & MET_MOST)
		count(counters, AT_MOST);
}

static void move_on(struct flow *flow, uint32_t now)
{
#if CONTROLLER_KEEPS_TIME
	controller_moves_on(flow->own, now - flow->asked_at);
#endif
	flow->asked_at = now;
}

static void ask(struct flow *flow, uint32_t now, doca_pcc_dev_results_t *results)
{
	move_on(flow, now);
	results->rtt_req = CONTROLLER_PROBES;
}

#if CONTROLLER_PROBES || CONTROLLER_ON_EVENTS
static uint32_t coalesced(doca_pcc_dev_event_t *event)
{
	const uint32_t number = doca_pcc_dev_get_ack_nack_cnp_extra(event).num_coalesced;

	return number ? number : 1;
}
#endif

#if CONTROLLER_PROBES
/* What is between answers. */
static void hear(struct flow *flow, doca_pcc_dev_event_t *event, uint32_t type)
{
	if (type == DOCA_PCC_DEV_EVNT_ROCE_NACK && flow->losses < MOST_LOSSES)
		flow->losses = (flow->losses + 1u) & MOST_LOSSES;
	if (type == DOCA_PCC_DEV_EVNT_ROCE_CNP)
		flow->marks = limited(flow->marks + coalesced(event), 0, MOST_COUNT) & MOST_COUNT;
	if (type == DOCA_PCC_DEV_EVNT_ROCE_TX)
		flow->packets = limited(flow->packets + doca_pcc_dev_get_roce_tx_cntrs(event).sent_pkts, 0, MOST_COUNT) &
				MOST_COUNT;
}

/* An answer to a probe. One that was sent before the last request does not show what the last decision did. */
static void answered(struct flow *flow, const uint32_t *parameters, uint32_t *counters, doca_pcc_dev_event_t *event,
		     uint32_t now, doca_pcc_dev_results_t *results)
{
	const uint32_t sent = doca_pcc_dev_get_rtt_req_send_timestamp(event);
	struct answer told = {.losses = flow->losses, .marks = flow->marks, .packets = flow->packets, .number = flow->number,
			      .now = now - flow->asked_at, .rate = flow->rate};

	if (flow->asked_at - sent - 1 < JUST_BEFORE) {
		count(counters, LATE_ANSWERS);
		return;
	}
	told.rtt = now != sent ? now - sent : 1; /* unsigned: right when the clock wraps */
#if CONTROLLER_TELEMETRY
	told.hop = telemetry(event);
#endif
	decide(flow, parameters, counters, &told);
	flow->losses = 0;
	flow->marks = 0;
	flow->packets = 0;
	flow->doublings = 0;
	flow->number = (told.number < MOST_NUMBER ? told.number + 2 : told.number + 2 - MOST_NUMBER / 2) & MOST_COUNT;
	ask(flow, now, results);
}

/* Any other event: it only shows how late it is. Events come out of order, some from before the request. */
static void wait_on(struct flow *flow, const uint32_t *parameters, uint32_t *counters, uint32_t now,
		    doca_pcc_dev_results_t *results)
{
	if (now - flow->asked_at + JUST_BEFORE <= (parameters[PATIENCE_NS] << flow->doublings) + JUST_BEFORE)
		return;
	if (flow->doublings < MOST_DOUBLINGS)
		flow->doublings = (flow->doublings + 1u) & 7;
	count(counters, PROBES_AGAIN);
	ask(flow, now, results);
}
#elif CONTROLLER_ON_EVENTS
/* Every event is a decision. */
static void answered(struct flow *flow, const uint32_t *parameters, uint32_t *counters, doca_pcc_dev_event_t *event,
		     uint32_t type, uint32_t now)
{
	const uint32_t apart = flow->asked_at - now - 1 < JUST_BEFORE ? 0 : now - flow->asked_at; /* out of order */
	struct answer told = {.now = apart, .rate = flow->rate};

	if (type == DOCA_PCC_DEV_EVNT_ROCE_CNP)
		told.marks = coalesced(event);
	if (type == DOCA_PCC_DEV_EVNT_ROCE_NACK)
		told.losses = coalesced(event);
	if (type == DOCA_PCC_DEV_EVNT_ROCE_TX)
		told.bytes = (uint32_t)doca_pcc_dev_get_roce_tx_cntrs(event).sent_32bytes << 5;
	decide(flow, parameters, counters, &told);
	if (apart >= APART)
		move_on(flow, now);
}
#else
/* Any event shows how late it is. */
static void wait_on(struct flow *flow, const uint32_t *parameters, uint32_t *counters, uint32_t now,
		    doca_pcc_dev_results_t *results)
{
	const struct answer told = {.rate = flow->rate};

	if (now - flow->asked_at + JUST_BEFORE <= parameters[PATIENCE_NS] + JUST_BEFORE)
		return;
	decide(flow, parameters, counters, &told);
	ask(flow, now, results);
}
#endif

void doca_pcc_dev_user_algo(doca_pcc_dev_algo_ctxt_t *algo_ctxt, doca_pcc_dev_event_t *event,
			    const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results)
{
	const doca_pcc_dev_event_general_attr_t general = doca_pcc_dev_get_ev_attr(event);
	const uint32_t *parameters = doca_pcc_dev_get_algo_params(general.port_num, ALGORITHM);
	uint32_t *counters = doca_pcc_dev_get_counters(general.port_num, ALGORITHM);
	uint32_t now = doca_pcc_dev_get_timestamp(event);
	struct flow *flow = (struct flow *)algo_ctxt;

	count_event(counters, general.ev_type);
	/* Connections that were made without an algorithm have the internal slot: they are controlled as well. */
	if (attr->algo_slot == DOCA_PCC_DEV_ALGO_SLOT_INTERNAL)
		count(counters, INTERNAL_SLOT);
	results->rtt_req = 0;
	if (flow->rate == 0) {
		count(counters, NEW_FLOWS);
		flow->asked_at = now;
		flow->rate = controller_start(flow->own, parameters);
		ask(flow, now, results);
	}
#if CONTROLLER_PROBES
	hear(flow, event, general.ev_type);
	if (general.ev_type == DOCA_PCC_DEV_EVNT_RTT)
		answered(flow, parameters, counters, event, now, results);
	else
		wait_on(flow, parameters, counters, now, results);
#elif CONTROLLER_ON_EVENTS
	answered(flow, parameters, counters, event, general.ev_type, now);
#else
	wait_on(flow, parameters, counters, now, results);
#endif
	results->rate = flow->rate;
}

struct range {
	uint32_t least, most;
};

static const struct range ranges[PARAMETER_COUNT] = {
#define RANGE(name, initial, least, most, text) [name] = {least, most},
	PARAMETERS(RANGE)
#undef RANGE
};

/* DOCA keeps the address of a description, so it stays where it is; "most" comes before "least" in its call. */
static void register_parameters(void)
{
#define PARAMETER(name, initial, least, most, text)                                                             \
	{                                                                                                       \
		static const volatile char description[] = #name ", " text;                                     \
		doca_pcc_dev_algo_init_param(ALGORITHM, name, initial, most, least, 1, sizeof(description),      \
					     (uint64_t)(uintptr_t)description);                                 \
	}
	PARAMETERS(PARAMETER)
#undef PARAMETER
}

static void register_counters(void)
{
#define COUNTER(name, text)                                                                                     \
	{                                                                                                       \
		static const volatile char description[] = #name ", " text;                                     \
		doca_pcc_dev_algo_init_counter(ALGORITHM, name, UINT32_MAX, 2, sizeof(description),              \
					       (uint64_t)(uintptr_t)description);                               \
	}
	COUNTERS(COUNTER)
#undef COUNTER
}

void doca_pcc_dev_user_init(uint32_t *disable_event_bitmask)
{
	static const volatile char description[] = CONTROLLER_TITLE;
	struct doca_pcc_dev_algo_meta_data about = {
		.algo_id = CONTROLLER_ID,
		.algo_major_version = CONTROLLER_VERSION,
		.algo_minor_version = 0,
		.algo_desc_size = sizeof(description),
		.algo_desc_addr = (uint64_t)(uintptr_t)description,
	};

	doca_pcc_dev_algo_init_metadata(ALGORITHM, &about, PARAMETER_COUNT, COUNTER_COUNT);
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

		if (number >= PARAMETER_COUNT || new_param_values[i] < ranges[number].least ||
		    new_param_values[i] > ranges[number].most)
			return DOCA_PCC_DEV_STATUS_FAIL;
	}
	return DOCA_PCC_DEV_STATUS_OK;
}
