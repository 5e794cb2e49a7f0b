/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the exported controller uses of DOCA PCC's device API, written from its documentation, to run it on a host.
 * Values and bytes of events are in the host's order here; on the card the getters swap them.
 */
#ifndef DOCA_PCC_DEV_STUB_H
#define DOCA_PCC_DEV_STUB_H

#include <stdint.h>

#define DOCA_PCC_DEV_MAX_NUM_PORTS 4
#define DOCA_PCC_DEV_ALGO_SLOT_INTERNAL 0xF

enum {
	DOCA_PCC_DEV_EVNT_ROCE_CNP = 2,
	DOCA_PCC_DEV_EVNT_ROCE_TX = 3,
	DOCA_PCC_DEV_EVNT_ROCE_ACK = 4,
	DOCA_PCC_DEV_EVNT_ROCE_NACK = 5,
	DOCA_PCC_DEV_EVNT_RTT = 6
};

typedef enum { DOCA_PCC_DEV_STATUS_OK, DOCA_PCC_DEV_STATUS_FAIL } doca_pcc_dev_error_t;

typedef struct {
	uint32_t data[12];
} doca_pcc_dev_algo_ctxt_t;

typedef struct {
	uint32_t ev_type : 8, ev_subtype : 8, port_num : 8, flags : 8;
} doca_pcc_dev_event_general_attr_t;

typedef struct {
	doca_pcc_dev_event_general_attr_t general;
	uint32_t timestamp, req_send_timestamp;
} doca_pcc_dev_event_t;

typedef struct {
	uint32_t algo_slot : 4, overload : 1, reserved : 27;
} doca_pcc_dev_attr_t;

typedef struct {
	uint32_t rate, rtt_req;
} doca_pcc_dev_results_t;

struct doca_pcc_dev_algo_meta_data {
	uint32_t algo_id, algo_major_version, algo_minor_version, algo_desc_size;
	uint64_t algo_desc_addr;
};

static inline doca_pcc_dev_event_general_attr_t doca_pcc_dev_get_ev_attr(doca_pcc_dev_event_t *event)
{
	return event->general;
}

static inline uint32_t doca_pcc_dev_get_timestamp(doca_pcc_dev_event_t *event)
{
	return event->timestamp;
}

static inline uint32_t doca_pcc_dev_get_rtt_req_send_timestamp(doca_pcc_dev_event_t *event)
{
	return event->req_send_timestamp;
}

doca_pcc_dev_error_t doca_pcc_dev_algo_init_metadata(uint32_t algo_idx, struct doca_pcc_dev_algo_meta_data *meta,
						     uint32_t param_num, uint32_t counter_num);
doca_pcc_dev_error_t doca_pcc_dev_algo_init_param(uint32_t algo_idx, uint32_t param_id, uint32_t default_value,
						  uint32_t max_value, uint32_t min_value, uint32_t permissions,
						  uint32_t desc_size, uint64_t desc_addr);
doca_pcc_dev_error_t doca_pcc_dev_algo_init_counter(uint32_t algo_idx, uint32_t counter_id, uint32_t max_value,
						    uint32_t permissions, uint32_t desc_size, uint64_t desc_addr);
doca_pcc_dev_error_t doca_pcc_dev_init_algo_slot(uint32_t port, uint32_t slot, uint32_t algo_idx, uint32_t enable);
uint32_t doca_pcc_dev_get_algo_index(uint32_t port, uint32_t slot);
uint32_t *doca_pcc_dev_get_algo_params(uint32_t port, uint32_t slot);
uint32_t *doca_pcc_dev_get_counters(uint32_t port, uint32_t slot);

/* What the program defines. */
void doca_pcc_dev_user_init(uint32_t *disable_event_bitmask);
void doca_pcc_dev_user_algo(doca_pcc_dev_algo_ctxt_t *context, doca_pcc_dev_event_t *event,
			    const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results);
doca_pcc_dev_error_t doca_pcc_dev_user_set_algo_params(uint32_t port, uint32_t slot, uint32_t param_id_base,
						       uint32_t param_num, const uint32_t *new_values, uint32_t *params);

#endif
