/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a flow, what a program answers, and what it defines. Values are in the host's order. */
#ifndef DOCA_PCC_DEV_H
#define DOCA_PCC_DEV_H

#include "doca_pcc_dev_common.h"
#include "doca_pcc_dev_services.h"
#include "doca_pcc_dev_utils.h"

#define DOCA_PCC_DEV_LOG_MAX_RATE 20
#define DOCA_PCC_DEV_MAX_RATE (1u << DOCA_PCC_DEV_LOG_MAX_RATE) /* line rate */
#define DOCA_PCC_DEV_DEFAULT_RATE (DOCA_PCC_DEV_MAX_RATE >> 8)
#define DOCA_PCC_DEV_MAX_NUM_USER_SLOTS 8
#define DOCA_PCC_DEV_MAX_NUM_ALGOS 8
#define DOCA_PCC_DEV_MAX_NUM_PARAMS_PER_ALGO 0x26
#define DOCA_PCC_DEV_MAX_NUM_COUNTERS_PER_ALGO 0x3F
#define DOCA_PCC_DEV_ALGO_SLOT_INTERNAL 0xF
#define DOCA_PCC_DEV_ALGO_INDEX_INTERNAL 0xF
#define DOCA_PCC_DEV_ACK_NACK_TX_EVENT_DISABLED_SUPPORTED 0

#define DOCA_PCC_DEV_TX_FLAG_ACK_EXPECTED (1 << 0)
#define DOCA_PCC_DEV_TX_FLAG_OVERLOADED (1 << 1)
#define DOCA_PCC_DEV_TX_FLAG_RTT_REQ_SENT (1 << 2)

typedef enum {
	DOCA_PCC_DEV_EVNT_NULL = 0,
	DOCA_PCC_DEV_EVNT_FW = 1,
	DOCA_PCC_DEV_EVNT_ROCE_CNP = 2,
	DOCA_PCC_DEV_EVNT_ROCE_TX = 3,
	DOCA_PCC_DEV_EVNT_ROCE_ACK = 4,
	DOCA_PCC_DEV_EVNT_ROCE_NACK = 5,
	DOCA_PCC_DEV_EVNT_RTT = 6,
	DOCA_PCC_DEV_EVNT_ROCE_TX_FOR_ACK_NACK = 31
} doca_pcc_dev_event_type_enum;

typedef enum {
	DOCA_PCC_DEV_NACK_EVNT_NULL = 0,
	DOCA_PCC_DEV_NACK_EVNT_RNR = 1,
	DOCA_PCC_DEV_NACK_EVNT_OOS = 2,
	DOCA_PCC_DEV_NACK_EVNT_DUP_READ = 3
} doca_pcc_dev_nack_event_sub_type_enum;

/* A flow's memory; all 0 for a new one. */
typedef struct {
	uint32_t data[12];
} doca_pcc_dev_algo_ctxt_t;

typedef struct {
	uint32_t algo_slot : 4, overload : 1, reserved_at_0 : 27;
} doca_pcc_dev_attr_t;

typedef struct {
	uint32_t ev_type : 8, ev_subtype : 8, port_num : 8, flags : 8;
} doca_pcc_dev_event_general_attr_t;

typedef struct {
	uint32_t sent_32bytes : 16, sent_pkts : 16;
} doca_pcc_dev_roce_tx_cntrs_t;

typedef struct {
	uint32_t num_coalesced : 16, reserved_at_0 : 16;
} doca_pcc_dev_ack_nack_cnp_extra_t;

typedef struct {
	doca_pcc_dev_event_general_attr_t ev_attr;
	uint32_t flow_tag, sn, timestamp; /* ns */
	uint32_t first_timestamp, first_sn, flow_qpn;
	doca_pcc_dev_roce_tx_cntrs_t cntrs;
	doca_pcc_dev_ack_nack_cnp_extra_t extra;
	uint32_t req_send_timestamp, req_recv_timestamp, resp_send_timestamp;
	uint32_t rtt_raw[3]; /* what the receiver's program answers with; on the card it takes the timestamps' place */
} doca_pcc_dev_event_t;

typedef struct doca_pcc_dev_results {
	uint32_t rate; /* share of line rate, 20 bits of fraction */
	union {
		uint32_t rtt_req, probe_req; /* 1: send a probe */
	};
	uint32_t probe_type_slot, credits, reload_credits; /* not read here */
} doca_pcc_dev_results_t;

/* The card's own algorithm. It is not public: here the flow has line rate. */
void doca_pcc_dev_default_internal_algo(doca_pcc_dev_algo_ctxt_t *algo_ctxt, doca_pcc_dev_event_t *event,
					const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results);

/* What a program defines. */
void doca_pcc_dev_user_init(uint32_t *disable_event_bitmask);
void doca_pcc_dev_user_algo(doca_pcc_dev_algo_ctxt_t *algo_ctxt, doca_pcc_dev_event_t *event,
			    const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results);
doca_pcc_dev_error_t doca_pcc_dev_user_set_algo_params(uint32_t port_num, uint32_t algo_slot, uint32_t param_id_base,
						       uint32_t param_num, const uint32_t *new_param_values,
						       uint32_t *params);

#endif
