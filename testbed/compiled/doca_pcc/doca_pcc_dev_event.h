/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCA_PCC_DEV_EVENT_H
#define DOCA_PCC_DEV_EVENT_H

#include "doca_pcc_dev.h"

#define DOCA_PCC_DEV_GET(TYPE, NAME, MEMBER)                                \
	static inline TYPE doca_pcc_dev_get_##NAME(doca_pcc_dev_event_t *event) \
	{                                                                   \
		return event->MEMBER;                                       \
	}

DOCA_PCC_DEV_GET(doca_pcc_dev_event_general_attr_t, ev_attr, ev_attr)
DOCA_PCC_DEV_GET(uint32_t, flowtag, flow_tag)
DOCA_PCC_DEV_GET(uint32_t, sn, sn)
DOCA_PCC_DEV_GET(uint32_t, timestamp, timestamp)
DOCA_PCC_DEV_GET(uint32_t, flow_qpn, flow_qpn)
DOCA_PCC_DEV_GET(uint32_t, roce_first_timestamp, first_timestamp)
DOCA_PCC_DEV_GET(doca_pcc_dev_roce_tx_cntrs_t, roce_tx_cntrs, cntrs)
DOCA_PCC_DEV_GET(uint32_t, roce_ack_first_sn, first_sn)
DOCA_PCC_DEV_GET(doca_pcc_dev_ack_nack_cnp_extra_t, ack_nack_cnp_extra, extra)
DOCA_PCC_DEV_GET(uint32_t, rtt_req_send_timestamp, req_send_timestamp)
DOCA_PCC_DEV_GET(uint32_t, rtt_req_recv_timestamp, req_recv_timestamp)
DOCA_PCC_DEV_GET(uint32_t, rtt_resp_send_timestamp, resp_send_timestamp)

static inline unsigned char *doca_pcc_dev_get_rtt_raw_data(doca_pcc_dev_event_t *event)
{
	return (unsigned char *)event->rtt_raw;
}

#endif
