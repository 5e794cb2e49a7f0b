// SPDX-License-Identifier: Apache-2.0
/*
 * A program for a card as a controller of the rack: what happens to a flow becomes the card's events.
 *
 * A probe goes with the first packet that leaves after it was asked for: it meets the same queues and is lost with it;
 * its own load, a small frame per answer, is left out. The answer's timestamps are the packet's, and so is its INT: that
 * of the last switch, as NVIDIA's example of a receiver's program (np/switch_telemetry) has it. A timeout is no event.
 */
#include "card.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testbed_cc.h"

enum { MOST_PROBES = 4, UNKNOWN = -1 };
#define CNP_INTERVAL 50e-6

struct cc_options {
	uint32_t values[MOST_PARAMETERS];
	double probe_loss, cnp_interval;
};

static struct cc_option cc_options[MOST_PARAMETERS + 3]; /* the program's, two of the rack, and the end */

struct probe {
	double asked; /* s */
	int64_t packet; /* that it goes with, or UNKNOWN: the first that left after it was asked for */
};

struct cc_flow {
	CC_FLOW;
	doca_pcc_dev_algo_ctxt_t context;
	uint32_t told, number; /* the rate in the card's format; which flow of this process it is */
	bool announced; /* a TX event has told that the last probe is sent */
	bool gap; /* a loss is known, and the ACK that shows it comes next */
	double sent_before; /* s: the TX event before */
	uint64_t random;
	int64_t waiting; /* probes that are on their way, in order */
	struct probe probes[MOST_PROBES];
};

static uint32_t ns(double time)
{
	return (uint32_t)(uint64_t)(time * 1e9 + 0.5);
}

static void ask(struct cc_flow *flow, double now, int64_t packet)
{
	if (flow->waiting == MOST_PROBES)
		memmove(flow->probes, flow->probes + 1, (size_t)--flow->waiting * sizeof(*flow->probes));
	flow->probes[flow->waiting++] = (struct probe){now, packet};
	flow->announced = false;
}

static void tell(struct cc_flow *flow, doca_pcc_dev_event_t event, uint32_t type, double now, int64_t next_packet)
{
	const doca_pcc_dev_attr_t attr = {0, 0, 0};
	doca_pcc_dev_results_t results = {flow->told, {0}, 0, 0, 0};

	if (card_masked >> type & 1)
		return;
	event.ev_attr.ev_type = type & 0xff;
	event.flow_tag = event.flow_qpn = flow->number;
	event.timestamp = ns(now);
	card_moment = (struct card_moment){(uint32_t *)flow->options->values, now, flow->path.line_rate};
	doca_pcc_dev_user_algo(&flow->context, &event, &attr, &results);
	flow->told = results.rate < 1 ? 1 : results.rate > DOCA_PCC_DEV_MAX_RATE ? DOCA_PCC_DEV_MAX_RATE : results.rate;
	flow->rate = flow->told / (double)DOCA_PCC_DEV_MAX_RATE * flow->path.line_rate;
	if (results.rtt_req)
		ask(flow, now, next_packet);
}

/* Values that the program refuses never come into force on a card; here the run ends. */
static void set_parameters(const struct cc_flow *flow)
{
	uint32_t *values = (uint32_t *)flow->options->values;

	if (!card_parameter_count || !memcmp(values, card_values, card_parameter_count * sizeof(*values)))
		return;
	if (doca_pcc_dev_user_set_algo_params(0, 0, 0, card_parameter_count, values, values)) {
		fputs("the program refuses these parameters (doca_pcc_dev_user_set_algo_params)\n", stderr);
		abort();
	}
}

static void on_start(struct cc_flow *flow, double now)
{
	static uint32_t flows;

	set_parameters(flow);
	flow->number = ++flows;
	flow->random = 0x9e3779b97f4a7c15u * flow->number;
	flow->told = DOCA_PCC_DEV_DEFAULT_RATE;
	flow->sent_before = now;
	tell(flow, (doca_pcc_dev_event_t){.first_timestamp = ns(now)}, DOCA_PCC_DEV_EVNT_ROCE_TX, now, 0);
}

static void on_sent(struct cc_flow *flow, double now, int64_t bytes)
{
	doca_pcc_dev_event_t event = {.first_timestamp = ns(flow->sent_before)};

	event.cntrs.sent_32bytes = bytes / 32 & 0xffff;
	event.cntrs.sent_pkts = bytes / flow->path.wire_size & 0xffff;
	if (flow->waiting && !flow->announced)
		event.ev_attr.flags = DOCA_PCC_DEV_TX_FLAG_RTT_REQ_SENT;
	flow->announced = true;
	flow->sent_before = now;
	tell(flow, event, DOCA_PCC_DEV_EVNT_ROCE_TX, now, UNKNOWN);
}

static void on_cnp(struct cc_flow *flow, double now)
{
	tell(flow, (doca_pcc_dev_event_t){.first_timestamp = ns(now), .extra = {1, 0}}, DOCA_PCC_DEV_EVNT_ROCE_CNP, now,
	     UNKNOWN);
}

static void on_loss(struct cc_flow *flow, double now, int64_t packets)
{
	doca_pcc_dev_event_t event = {.first_timestamp = ns(now), .extra = {packets & 0xffff, 0}};

	event.ev_attr.ev_subtype = DOCA_PCC_DEV_NACK_EVNT_OOS;
	flow->gap = true;
	tell(flow, event, DOCA_PCC_DEV_EVNT_ROCE_NACK, now, UNKNOWN);
}

static bool loses_a_probe(struct cc_flow *flow)
{
	flow->random ^= flow->random << 13; /* xorshift64 */
	flow->random ^= flow->random >> 7;
	flow->random ^= flow->random << 17;
	return (double)(flow->random >> 11) * 0x1p-53 < flow->options->probe_loss;
}

/* 12 bytes: the queue in units of 256 bytes, the hop, whether it is valid; bytes sent until then, and ns. */
static void tell_of(doca_pcc_dev_event_t *event, const struct cc_ack *ack)
{
	if (ack->hop_count < 1)
		return;
	const struct cc_hop *last = &ack->hops[ack->hop_count - 1];
	const uint32_t queue = last->queue < 256.0 * 0xffff ? (uint32_t)(last->queue / 256) : 0xffff;

	event->rtt_raw[0] = queue | (uint32_t)(ack->hop_count - 1) << 16 | 1u << 26;
	event->rtt_raw[1] = (uint32_t)(uint64_t)last->tx_bytes;
	event->rtt_raw[2] = ns(last->ts);
}

static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
	doca_pcc_dev_event_t event = {.sn = (uint32_t)ack->seq, .first_sn = (uint32_t)ack->seq, .extra = {1, 0}};
	const double now = ack->now, sent = now - ack->rtt;

	event.first_timestamp = ns(now);
	tell(flow, event, DOCA_PCC_DEV_EVNT_ROCE_ACK, now, ack->next_seq);
	for (int64_t left = flow->waiting; left > 0; left--) { /* not those that an answer asks for */
		const struct probe probe = flow->probes[0];

		if (probe.packet == UNKNOWN ? sent < probe.asked : ack->seq < probe.packet)
			break;
		memmove(flow->probes, flow->probes + 1, (size_t)--flow->waiting * sizeof(probe));
		if ((flow->gap && probe.packet != UNKNOWN && ack->seq > probe.packet) || loses_a_probe(flow))
			continue;
		event.req_send_timestamp = ns(sent);
		event.req_recv_timestamp = event.resp_send_timestamp = ns(now - flow->path.base_rtt / 2);
		tell_of(&event, ack);
		tell(flow, event, DOCA_PCC_DEV_EVNT_RTT, now, ack->next_seq);
	}
	flow->gap = false;
}

#ifdef CARD_TELEMETRY
#define SIGNALS (CC_RTT | CC_CNP | CC_TX | CC_INT)
#else
#define SIGNALS (CC_RTT | CC_CNP | CC_TX)
#endif

CC_CONTROLLER(.text = "A program for DOCA PCC.", .signals = SIGNALS, .on_start = on_start,
	      .on_ack = on_ack, .on_cnp = on_cnp, .on_loss = on_loss, .on_sent = on_sent)

/* "NAME, text" as the name and the text of an option: `name`. */
static void declare(struct cc_option *option, const struct card_declared *one, char *name, char *range, int64_t offset)
{
	const char *text = one->text + strcspn(one->text, ",");
	size_t length = (size_t)(text - one->text);

	for (size_t i = 0; i < length; i++)
		name[i] = (char)(isalnum((unsigned char)one->text[i]) ? tolower((unsigned char)one->text[i]) : '_');
	if (one->permissions)
		sprintf(range, "[%u, %u]", one->least, one->most);
	else
		sprintf(range, "[%u, %u]", one->initial, one->initial);
	*option = (struct cc_option){"uint32_t", name, range, "", text + strspn(text, ", "), one->initial, offset};
}

__attribute__((constructor)) static void start(void)
{
	static char names[MOST_PARAMETERS][sizeof(card_parameters->text)], ranges[MOST_PARAMETERS][32];
	struct cc_option *option = cc_options;

	card_start();
	for (uint32_t i = 0; i < card_parameter_count; i++)
		declare(option++, &card_parameters[i], names[i], ranges[i], (int64_t)(i * sizeof(uint32_t)));
	*option++ = (struct cc_option){"double", "probe_loss", "[0, 1)", "share", "Of answers to probes, beside dropped packets.",
				       0, (int64_t)offsetof(struct cc_options, probe_loss)};
	*option = (struct cc_option){"double", "cnp_interval", "[0, 1)", "s", "Between the CNPs of a flow, at the receiver.",
				     CNP_INTERVAL, (int64_t)offsetof(struct cc_options, cnp_interval)};
}
