/* SPDX-License-Identifier: Apache-2.0
 *
 * What hosts and switches do with a packet that comes in.
 */
#ifndef TESTBED_NODES_H
#define TESTBED_NODES_H

#include "app_links.h"
#include "delivery.h"
#include "forwarding.h"
#include "lines.h"
#include "notices.h"

#define NO_FLOW UINT32_MAX

static uint32_t carried_flow(const struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;

	return !is_pause_frame(p) && !p->whole && is_data(packet) ? flow_of(packet) : NO_FLOW;
}

/* To whoever is behind the receiver's NIC. */
static int64_t packets_delivered(const struct world *w, uint32_t flow)
{
	return (int64_t)(nic_constants.numbered ? ((const struct receiver *)w->receivers)[flow].delivered
						: ((const struct flow_rx *)w->flows_rx)[flow].packets);
}

/* Nobody is behind the NIC of a host without apps. */
static void give_to_apps(struct world *w, int64_t host, const struct packet *p)
{
	int64_t link = w->apps->link_of[host];

	if (link >= 0)
		hand_out(w->apps, &w->apps->links[link], p->bytes, p->length, p->arrives);
}

static void at_host(struct world *w, struct line *l, struct packet *p)
{
	struct __sk_buff skb = view_of(p, l->to);
	uint32_t data_of = w->tasks ? carried_flow(p) : NO_FLOW; /* before the NIC makes an acknowledgement of it */
	int verdict = nic_rx(&skb);

	if (data_of != NO_FLOW)
		data_received(data_of, packets_delivered(w, data_of));
	if (skb.protocol == bpf_htons(ETH_P_PAUSE)) {
		int64_t host = -1 - l->receiver;

		w->resumed[w->resumed_count++] = w->sender[host];
		go_on(w, &w->lines[w->up[host]], w->now);
	}
	if (verdict != TC_ACT_REDIRECT) {
		if (p->whole)
			give_to_apps(w, -1 - l->receiver, p);
		drop(p);
		return;
	}
	p->length = skb.len;
	p->data = 0;
	send_up(w, -1 - l->receiver, p);
}

/* A switch takes a packet that came in at interface `from` on, or drops it. */
static void forward(struct world *w, int64_t here, int64_t from, struct packet *p)
{
	struct roce *packet = (struct roce *)p->bytes;
	struct __sk_buff skb;
	struct line *out;
	int verdict;

#if MANY_PATHS
	if (p->via == here)
		p->via = -1;
#endif
	out = next_line(w, here, p);
	if (!out || (w->routed && !route(packet, out))) {
		w->unroutable++;
		drop(p);
		return;
	}
	catch_up(w, out, w->now);
	skb = view_of(p, out->from);
#if MANY_PATHS
	skb.hash = p->hash;
#endif
	skb.ingress_ifindex = (uint32_t)from;
	verdict = port_egress(&skb);
#if CLASSES
	if (verdict == TC_ACT_REDIRECT) /* it was trimmed */
		verdict = port_egress(&skb);
#endif
	if (verdict == TC_ACT_SHOT) {
		drop(p);
		return;
	}
#if CLASSES
	p->queue = skb.priority - FIRST_QUEUE;
	p->length = skb.len;
#else
	p->data = skb.priority == LOSSLESS_CLASS;
#endif
	send_on(w, out, p);
}

static void at_switch(struct world *w, struct line *l, struct packet *p)
{
	struct __sk_buff skb = view_of(p, l->to);

#if MANY_PATHS
	skb.hash = p->hash;
#endif
	if (l->sender < 0 && is_pause_frame(p) && read_pause(&skb)) { /* in the kernel nic_tx is there, where the line ends */
		signal_received((uint32_t)l->to);
		drop(p);
		return;
	}
	if (l->sender < 0 && p->lost) {
		drop(p);
		return;
	}
	if (w->entries && l->sender < 0) /* of what hosts send, else nobody asks */
		((struct arrivals *)w->arrivals)[l->to].packets++;
	if (l->sender >= 0 && port_ingress(&skb) == TC_ACT_SHOT) {
		drop(p);
		return;
	}
#if MANY_PATHS
	p->hash = skb.hash;
#endif
	forward(w, l->receiver, l->to, p);
}

#ifdef BOLT
/* A copy of what a port is about to send comes in there, where an SRC is made of it. */
long come_in(struct __sk_buff *skb, __u32 ifindex)
{
	struct packet *original = current, *copy = new_packet();
	struct __sk_buff back;

	memcpy(copy->bytes, original->bytes, HEADERS);
	copy->length = skb->len;
	back = view_of(copy, ifindex);
	back.mark = skb->mark;
	if (port_src(&back) == TC_ACT_OK) {
		copy->length = back.len;
		forward(world, world->lines[world->out[ifindex]].sender, ifindex, copy);
	} else {
		drop(copy);
	}
	current = original;
	return 0;
}
#else
long come_in(struct __sk_buff *skb, __u32 ifindex)
{
	(void)skb, (void)ifindex;
	abort(); /* no program asks for it */
}
#endif

#endif
