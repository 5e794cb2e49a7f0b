/* SPDX-License-Identifier: Apache-2.0 */
/* Events for a program on the card of the rack, one by one as a test wants them. */
#include "card.h"

/* Events in the order of time; `context` are 12 words per flow. */
void feed(int64_t n, const int64_t *flow, const int64_t *type, const int64_t *at, const int64_t *sent, uint32_t slot,
	  doca_pcc_dev_algo_ctxt_t *context, int64_t *rate, int64_t *asked)
{
	for (int64_t i = 0; i < n; i++) {
		doca_pcc_dev_event_t event = {.ev_attr = {(uint32_t)type[i] & 0xff, 0, 1, 0}, .timestamp = (uint32_t)at[i],
					      .req_send_timestamp = (uint32_t)sent[i]};
		const doca_pcc_dev_attr_t attr = {slot & 0xf, 0, 0};
		doca_pcc_dev_results_t results = {0xdead, {0xdead}, 0, 0, 0};

		doca_pcc_dev_user_algo(&context[flow[i]], &event, &attr, &results);
		rate[i] = results.rate;
		asked[i] = results.rtt_req;
	}
}
