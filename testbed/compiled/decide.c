// SPDX-License-Identifier: Apache-2.0
/* Feedback that comes as columns, for what is no datapath: the fluid model, replay. */
#include <string.h>

#include "decide.h"

/* The columns of `Feedback`; those of INT have `most_hops` entries per row. Mirrored in flows.py. */
struct columns {
	const int64_t *flow, *packets, *bytes, *ce_packets, *inc_packets, *cnps, *lost, *timeouts, *seq, *next_seq, *inflight, *hops;
	const double *rtt;
	const int64_t *node;
	const double *ts, *tx_bytes, *queue, *rate;
	int64_t most_hops;
};

static void read_ack(struct cc_ack *ack, const struct columns *c, int64_t row, double now)
{
	*ack = (struct cc_ack){now, c->packets[row], c->bytes[row], c->seq[row], c->next_seq[row], c->inflight[row],
			    c->rtt[row], c->ce_packets[row], c->inc_packets[row], c->hops[row], {{0}}};
	for (int64_t i = 0; i < ack->hop_count; i++) {
		int64_t at = row * c->most_hops + i;

		ack->hops[i] = (struct cc_hop){c->node[at], c->ts[at], c->tx_bytes[at], c->queue[at], c->rate[at]};
	}
}

/* `rows` rows of feedback, in order; 0 if the controller failed. */
int64_t feed(struct decider *d, const struct columns *c, int64_t rows, double now)
{
	struct cc_ack ack;

	for (int64_t row = 0; row < rows; row++) {
		int64_t f = c->flow[row];

		if (c->lost[row] && !c->timeouts[row] && !tell(d, f, CC_ON_LOSS, now, c->lost[row], NULL))
			return 0;
		if (!isnan(c->rtt[row])) { /* the fluid model may acknowledge less than a packet */
			read_ack(&ack, c, row, now);
			if (!tell(d, f, CC_ON_ACK, now, 0, &ack))
				return 0;
		}
		for (int64_t i = 0; i < c->cnps[row]; i++) {
			if (!tell(d, f, CC_ON_CNP, now, 0, NULL))
				return 0;
		}
		if (c->timeouts[row] && !tell(d, f, CC_ON_TIMEOUT, now, c->lost[row], NULL))
			return 0;
	}
	return 1;
}

/* The same event for each of `n` flows, with a number each (or NULL); 0 if the controller failed. */
int64_t tell_all(struct decider *d, const int64_t *flows, int64_t n, int64_t event, double now, const int64_t *numbers)
{
	for (int64_t i = 0; i < n; i++) {
		if (event == CC_ON_START)
			memcpy(record_of(d, flows[i]), d->initial + flows[i] * d->size, (size_t)d->size);
		if (!tell(d, flows[i], event, now, numbers ? numbers[i] : 0, NULL))
			return 0;
	}
	return 1;
}

/* An acknowledgement for the first flow; 0 if the controller failed. */
int64_t tell_one(struct decider *d, const struct cc_ack *ack)
{
	return tell(d, 0, CC_ON_ACK, ack->now, 0, ack);
}

/* An SRC for each of `n` flows; 0 if the controller failed. */
int64_t tell_srcs(struct decider *d, const int64_t *flows, int64_t n, double now, const double *age, const double *queue,
		  const double *rate)
{
	for (int64_t i = 0; i < n; i++) {
		struct cc_ack src = {.now = now, .rtt = age[i], .hop_count = 1, .hops = {{.queue = queue[i], .rate = rate[i]}}};

		if (!tell(d, flows[i], CC_ON_SRC, now, 0, &src))
			return 0;
	}
	return 1;
}
