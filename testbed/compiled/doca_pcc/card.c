// SPDX-License-Identifier: Apache-2.0
#include "card.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct card_declared card_parameters[MOST_PARAMETERS], card_counters[MOST_COUNTERS];
uint32_t card_parameter_count, card_counter_count, card_masked, card_slots[DOCA_PCC_DEV_MAX_NUM_PORTS];
uint32_t card_values[MOST_PARAMETERS], card_counted[MOST_COUNTERS], card_counting = 1;
const char *card_refused;
__thread struct card_moment card_moment;

static doca_pcc_dev_error_t checked(int fine, const char *why)
{
	if (fine)
		return DOCA_PCC_DEV_STATUS_OK;
	if (!card_refused)
		card_refused = why;
	return DOCA_PCC_DEV_STATUS_FAIL;
}

static void keep(struct card_declared *one, uint32_t size, uint64_t at)
{
	const volatile char *text = (const volatile char *)(uintptr_t)at;

	for (uint32_t i = 0; i < size && i < sizeof(one->text) - 1; i++)
		one->text[i] = text[i];
}

doca_pcc_dev_error_t doca_pcc_dev_algo_init_metadata(uint32_t algo_idx,
						     const struct doca_pcc_dev_algo_meta_data *user_def,
						     uint32_t param_num, uint32_t counter_num)
{
	(void)user_def;
	if (checked(algo_idx == 0, "an algorithm with another index than 0") ||
	    checked(param_num <= MOST_PARAMETERS, "more than 38 parameters") ||
	    checked(counter_num <= MOST_COUNTERS, "more than 63 counters"))
		return DOCA_PCC_DEV_STATUS_FAIL;
	card_parameter_count = param_num;
	card_counter_count = counter_num;
	return DOCA_PCC_DEV_STATUS_OK;
}

doca_pcc_dev_error_t doca_pcc_dev_algo_init_param(uint32_t algo_idx, uint32_t param_id, uint32_t default_value,
						  uint32_t max_value, uint32_t min_value, uint32_t permissions,
						  uint32_t param_desc_size, uint64_t param_desc_addr)
{
	if (checked(algo_idx == 0 && param_id < card_parameter_count, "a parameter beyond those that were announced") ||
	    checked(default_value >= min_value && default_value <= max_value, "a default outside of its range"))
		return DOCA_PCC_DEV_STATUS_FAIL;
	card_parameters[param_id] = (struct card_declared){default_value, max_value, min_value, permissions, {0}};
	keep(&card_parameters[param_id], param_desc_size, param_desc_addr);
	card_values[param_id] = default_value;
	return DOCA_PCC_DEV_STATUS_OK;
}

doca_pcc_dev_error_t doca_pcc_dev_algo_init_counter(uint32_t algo_idx, uint32_t counter_id, uint32_t max_value,
						    uint32_t permissions, uint32_t counter_desc_size,
						    uint64_t counter_desc_addr)
{
	if (checked(algo_idx == 0 && counter_id < card_counter_count, "a counter beyond those that were announced"))
		return DOCA_PCC_DEV_STATUS_FAIL;
	card_counters[counter_id] = (struct card_declared){0, max_value, 0, permissions, {0}};
	keep(&card_counters[counter_id], counter_desc_size, counter_desc_addr);
	return DOCA_PCC_DEV_STATUS_OK;
}

doca_pcc_dev_error_t doca_pcc_dev_init_algo_slot(uint32_t portid, uint32_t algo_slot, uint32_t algo_idx,
						 uint32_t algo_en)
{
	if (checked(portid < DOCA_PCC_DEV_MAX_NUM_PORTS, "a port beyond the card's four") ||
	    checked(algo_slot == 0 && algo_idx == 0, "another slot or algorithm than 0"))
		return DOCA_PCC_DEV_STATUS_FAIL;
	card_slots[portid] = algo_en;
	return DOCA_PCC_DEV_STATUS_OK;
}

uint32_t doca_pcc_dev_get_algo_index(uint32_t port_num, uint32_t algo_slot)
{
	const int ours = port_num < DOCA_PCC_DEV_MAX_NUM_PORTS && algo_slot == 0 && card_slots[port_num];

	return ours ? 0 : DOCA_PCC_DEV_ALGO_INDEX_INTERNAL;
}

uint32_t doca_pcc_dev_get_algo_params_num(uint32_t port_num, uint32_t algo_slot)
{
	return doca_pcc_dev_get_algo_index(port_num, algo_slot) == 0 ? card_parameter_count : 0;
}

uint32_t *doca_pcc_dev_get_algo_params(uint32_t port_num, uint32_t algo_slot)
{
	if (doca_pcc_dev_get_algo_index(port_num, algo_slot) != 0)
		return NULL;
	return card_moment.values ? card_moment.values : card_values;
}

uint32_t doca_pcc_dev_get_counters_num(uint32_t port_num, uint32_t algo_slot)
{
	return doca_pcc_dev_get_algo_index(port_num, algo_slot) == 0 ? card_counter_count : 0;
}

uint32_t *doca_pcc_dev_get_counters(uint32_t port_num, uint32_t algo_slot)
{
	return card_counting && doca_pcc_dev_get_algo_index(port_num, algo_slot) == 0 ? card_counted : NULL;
}

uint32_t doca_pcc_dev_get_logical_ports(void)
{
	return 1;
}

uint32_t doca_pcc_dev_get_port_speed(uint32_t portid)
{
	(void)portid;
	return (uint32_t)(card_moment.line_rate / 1e9);
}

uint64_t doca_pcc_dev_get_timer(void)
{
	return (uint64_t)(card_moment.now * 1e6);
}

uint32_t doca_pcc_dev_get_timer_lo(void)
{
	return (uint32_t)doca_pcc_dev_get_timer();
}

uint32_t doca_pcc_dev_fxp_recip(uint32_t a)
{
	const uint64_t one = 1ull << 32;

	return a > 1 ? (uint32_t)(one / a) : UINT32_MAX;
}

uint32_t doca_pcc_dev_fxp_power2(uint32_t a)
{
	return a >> 16 < 16 ? (uint32_t)(exp2(a / 65536.0) * 65536.0) : UINT32_MAX;
}

uint32_t doca_pcc_dev_fxp_log2(uint32_t a)
{
	return a > 1 << 16 ? (uint32_t)(log2(a / 65536.0) * 65536.0) : 0;
}

void doca_pcc_dev_printf(const char *format, ...)
{
	va_list told;

	va_start(told, format);
	vfprintf(stderr, format, told);
	va_end(told);
}

void doca_pcc_dev_trace_5(int format_id, uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4, uint64_t arg5)
{
	(void)format_id, (void)arg1, (void)arg2, (void)arg3, (void)arg4, (void)arg5;
}

void doca_pcc_dev_trace_flush(void)
{
}

unsigned int doca_pcc_dev_thread_rank(void)
{
	return 0;
}

void doca_pcc_dev_default_internal_algo(doca_pcc_dev_algo_ctxt_t *algo_ctxt, doca_pcc_dev_event_t *event,
					const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results)
{
	(void)algo_ctxt, (void)event, (void)attr;
	results->rate = DOCA_PCC_DEV_MAX_RATE;
}

void card_start(void)
{
	doca_pcc_dev_user_init(&card_masked);
	checked(card_slots[0] != 0, "a program that enables no algorithm in slot 0 of port 0");
	if (doca_pcc_dev_user_port_info_changed)
		doca_pcc_dev_user_port_info_changed(0);
}
