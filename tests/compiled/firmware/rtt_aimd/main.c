/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A third party's program: the loop of NVIDIA's public RTT template as documentation tells of it, written from that.
 * Every answer to a probe is a decision and asks for the next; CNPs and NACKs wait for it; after 300 us without one, and
 * twice as long each time, a TX event asks again.
 */
#include "aimd.h"

#define PATIENCE 300000u /* ns */
#define NO_RTT 200000u

static const volatile char about[] = "AIMD on RTTs";
static const struct {
	uint32_t initial, most, least;
	const volatile char *text;
	uint32_t size;
} parameters[PARAMETERS] = {
#define TEXT(text) (const volatile char *)text, sizeof(text)
	[UPDATE_FACTOR] = {6553, 13107, 1, TEXT("UPDATE_FACTOR, what a long RTT takes off, fxp16")},
	[AI] = {52428, 1u << 20, 1, TEXT("AI, a step up, fxp20")},
	[BASE_RELATIVE_RTT] = {13000, UINT32_MAX, 1, TEXT("BASE_RELATIVE_RTT, more than the least RTT, ns")},
	[NEW_FLOW_RATE] = {1u << 20, 1u << 20, 1, TEXT("NEW_FLOW_RATE, fxp20")},
	[MIN_RATE] = {1u << 6, 1u << 20, 1, TEXT("MIN_RATE, fxp20")},
	[MAX_DELAY] = {150000, UINT32_MAX, 1, TEXT("MAX_DELAY, an RTT that is very long, ns")},
};

void doca_pcc_dev_user_init(uint32_t *disable_event_bitmask)
{
	struct doca_pcc_dev_algo_meta_data algorithm = {0xA1D0, 0, 1, sizeof(about), (uint64_t)(uintptr_t)about};

	doca_pcc_dev_algo_init_metadata(0, &algorithm, PARAMETERS, COUNTERS);
	for (uint32_t i = 0; i < PARAMETERS; i++)
		doca_pcc_dev_algo_init_param(0, i, parameters[i].initial, parameters[i].most, parameters[i].least, 1,
					     parameters[i].size, (uint64_t)(uintptr_t)parameters[i].text);
	for (uint32_t i = 0; i < COUNTERS; i++)
		doca_pcc_dev_algo_init_counter(0, i, UINT32_MAX, 2, sizeof(about), (uint64_t)(uintptr_t)about);
	for (uint32_t port = 0; port < DOCA_PCC_DEV_MAX_NUM_PORTS; port++)
		doca_pcc_dev_init_algo_slot(port, 0, 0, 1);
	*disable_event_bitmask = 1u << DOCA_PCC_DEV_EVNT_ROCE_ACK;
}

void doca_pcc_dev_user_algo(doca_pcc_dev_algo_ctxt_t *algo_ctxt, doca_pcc_dev_event_t *event,
			    const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results)
{
	const doca_pcc_dev_event_general_attr_t what = doca_pcc_dev_get_ev_attr(event);
	const uint32_t *values = doca_pcc_dev_get_algo_params(what.port_num, attr->algo_slot);
	uint32_t *counters = doca_pcc_dev_get_counters(what.port_num, attr->algo_slot);
	const uint32_t now = doca_pcc_dev_get_timestamp(event);
	struct aimd *flow = (struct aimd *)algo_ctxt;
	uint32_t ask = 0;

	if (flow->rate == 0) {
		*flow = (struct aimd){values[NEW_FLOW_RATE], now, NO_RTT, 0, 0, 0};
		ask = 1;
	} else if (what.ev_type == DOCA_PCC_DEV_EVNT_RTT) {
		flow->rate = aimd_decided(flow, values, now - doca_pcc_dev_get_rtt_req_send_timestamp(event));
		flow->doublings = 0;
		ask = 1;
		if (counters)
			counters[RTT_EVENTS]++;
	} else if (what.ev_type == DOCA_PCC_DEV_EVNT_ROCE_CNP) {
		flow->cnp = 1;
	} else if (what.ev_type == DOCA_PCC_DEV_EVNT_ROCE_NACK) {
		flow->nack = 1;
	} else if (now - flow->asked_at > PATIENCE << flow->doublings) {
		flow->doublings += flow->doublings < 10;
		ask = 1;
	}
	if (ask)
		flow->asked_at = now;
	results->rate = flow->rate;
	results->rtt_req = ask;
}

doca_pcc_dev_error_t doca_pcc_dev_user_set_algo_params(uint32_t port_num, uint32_t algo_slot, uint32_t param_id_base,
						       uint32_t param_num, const uint32_t *new_param_values,
						       uint32_t *params)
{
	(void)port_num, (void)algo_slot, (void)params;
	for (uint32_t i = 0; i < param_num; i++) {
		/* A flow that starts below the least rate would be a contradiction: ranges alone do not show it. */
		if (param_id_base + i == NEW_FLOW_RATE && new_param_values[i] < parameters[MIN_RATE].initial)
			return DOCA_PCC_DEV_STATUS_FAIL;
	}
	return DOCA_PCC_DEV_STATUS_OK;
}
