/* SPDX-License-Identifier: Apache-2.0 */
/* The card's side of the stub: keeps what is registered, and feeds recorded events. One port has a slot. */
#include <doca_pcc_dev.h>

enum { MOST = 64 };

struct registered {
	uint32_t initial, most, least, permissions;
	char text[128];
} parameters[MOST], counters[MOST];

uint32_t parameter_count, counter_count, refused, masked, slots[DOCA_PCC_DEV_MAX_NUM_PORTS];
uint32_t values[MOST], counted[MOST], counting = 1;

static void keep(struct registered *one, uint32_t size, uint64_t at)
{
	const volatile char *text = (const volatile char *)(uintptr_t)at;

	for (uint32_t i = 0; i < size && i < sizeof(one->text); i++)
		one->text[i] = text[i];
}

doca_pcc_dev_error_t doca_pcc_dev_algo_init_metadata(uint32_t algo_idx, struct doca_pcc_dev_algo_meta_data *meta,
						     uint32_t param_num, uint32_t counter_num)
{
	(void)meta;
	parameter_count = param_num;
	counter_count = counter_num;
	refused |= algo_idx >= 8 || param_num > 38 || counter_num > 63;
	return DOCA_PCC_DEV_STATUS_OK;
}

doca_pcc_dev_error_t doca_pcc_dev_algo_init_param(uint32_t algo_idx, uint32_t param_id, uint32_t default_value,
						  uint32_t max_value, uint32_t min_value, uint32_t permissions,
						  uint32_t desc_size, uint64_t desc_addr)
{
	refused |= algo_idx != 0 || param_id >= parameter_count || default_value > max_value || default_value < min_value;
	parameters[param_id] = (struct registered){default_value, max_value, min_value, permissions, {0}};
	keep(&parameters[param_id], desc_size, desc_addr);
	values[param_id] = default_value;
	return DOCA_PCC_DEV_STATUS_OK;
}

doca_pcc_dev_error_t doca_pcc_dev_algo_init_counter(uint32_t algo_idx, uint32_t counter_id, uint32_t max_value,
						    uint32_t permissions, uint32_t desc_size, uint64_t desc_addr)
{
	refused |= algo_idx != 0 || counter_id >= counter_count;
	counters[counter_id] = (struct registered){0, max_value, 0, permissions, {0}};
	keep(&counters[counter_id], desc_size, desc_addr);
	return DOCA_PCC_DEV_STATUS_OK;
}

doca_pcc_dev_error_t doca_pcc_dev_init_algo_slot(uint32_t port, uint32_t slot, uint32_t algo_idx, uint32_t enable)
{
	refused |= port >= DOCA_PCC_DEV_MAX_NUM_PORTS || slot != 0 || algo_idx != 0;
	slots[port] = enable;
	return DOCA_PCC_DEV_STATUS_OK;
}

uint32_t doca_pcc_dev_get_algo_index(uint32_t port, uint32_t slot)
{
	return port < DOCA_PCC_DEV_MAX_NUM_PORTS && slot == 0 && slots[port] ? 0 : 0xF;
}

uint32_t *doca_pcc_dev_get_algo_params(uint32_t port, uint32_t slot)
{
	return doca_pcc_dev_get_algo_index(port, slot) == 0 ? values : 0;
}

uint32_t *doca_pcc_dev_get_counters(uint32_t port, uint32_t slot)
{
	(void)port;
	return counting && slot == 0 ? counted : 0;
}

void start(void)
{
	doca_pcc_dev_user_init(&masked);
}

/* Events in the order of time; `context` are 12 words per flow. */
void feed(int64_t n, const int64_t *flow, const int64_t *type, const int64_t *at, const int64_t *sent, uint32_t slot,
	  doca_pcc_dev_algo_ctxt_t *context, int64_t *rate, int64_t *asked)
{
	for (int64_t i = 0; i < n; i++) {
		doca_pcc_dev_event_t event = {{(uint32_t)type[i], 0, 1, 0}, (uint32_t)at[i], (uint32_t)sent[i]};
		const doca_pcc_dev_attr_t attr = {slot, 0, 0};
		doca_pcc_dev_results_t results = {0xdead, 0xdead};

		doca_pcc_dev_user_algo(&context[flow[i]], &event, &attr, &results);
		rate[i] = results.rate;
		asked[i] = results.rtt_req;
	}
}
