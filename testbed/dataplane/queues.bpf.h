/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The port's hook where ports have several queues (classes.bpf.h): tail drop, RED, INT and counters, each by the packet's
 * own queue. Who goes next is the scheduler's: a qdisc's below this hook, or the line's in virtual time. It is told the
 * queue as the packet's priority.
 */
#ifndef TESTBED_QUEUES_BPF_H
#define TESTBED_QUEUES_BPF_H

/* Packets that found `queue` bytes. */
static __always_inline void count_found(struct port_counters *count, __u32 queue, __u32 packets)
{
	__u32 bin = bin_of(queue);

	count->found += (__u64)queue * packets;
	if (bin < QUEUE_BINS)
		count->histogram[bin] += packets;
}

/* It waits there now. With what left, `area` is the integral of the queue: see port_reader.c. */
static __always_inline void count_entry(struct port_counters *count, __u32 queue, const struct size *size, int mark, __u64 now)
{
	count->packets += size->packets;
	count->bytes += size->bytes;
	count->area += size->bytes * now;
	count->queue = queue + size->bytes;
	count->last_ns = now;
	if (count->queue > count->peak)
		count->peak = count->queue;
	if (mark) {
		count->marked_packets += size->packets;
		count->marked_bytes += size->bytes;
	}
}

static __always_inline void count_loss(struct port_counters *count, int lost, const struct size *size)
{
	if (lost) {
		count_lost(count, size->packets);
	} else {
		__sync_fetch_and_add(&count->dropped_packets, size->packets);
		__sync_fetch_and_add(&count->dropped_bytes, size->bytes);
	}
}

/*
 * All queues together are what one queue of the port's rate would be, whoever goes next. What waits beyond that is what the
 * shaper did not send in time; or what a pause has `held`.
 */
static __always_inline void count_stalled(struct queue *port, struct port_counters *all, const struct port_config *config,
					  __u64 waiting, __u32 length, __u64 now, int held)
{
	__u64 dt = now > port->last_ns ? now - port->last_ns : 0, before = port->bytes;

	before = dt > config->longest_ns || dt * config->drain > before ? 0 : before - dt * config->drain;
	if (waiting > (before >> RATE_SHIFT) + config->slack) {
		all->stalled += held ? 0 : waiting - config->slack - (before >> RATE_SHIFT);
		before = (waiting - config->slack) << RATE_SHIFT;
	}
	port->bytes = before + ((__u64)length << RATE_SHIFT);
	port->last_ns = now;
}

#if POOL && !defined(VIRTUAL)
/* Whether a pause has held a queue of the port since then. Global, so that the verifier looks at it by itself. */
__attribute__((noinline)) int is_held(__u32 interface, __u64 since, __u64 now)
{
	__u32 first = 0, held = 0;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);

	for (__u32 priority = 0; classes && classes->lossless && priority < PRIORITIES; priority++) {
		__u32 row = row_of(classes, interface, priority);
		const struct pause *pause = classes->lossless >> priority & 1 ? bpf_map_lookup_elem(&pauses, &row) : NULL;

		if (pause && paused_between(pause, since, now))
			held = 1;
	}
	return held;
}
#endif

#include "trim.bpf.h"

SEC("tc")
int port_egress(struct __sk_buff *skb)
{
	__u32 first = 0, key = skb->ifindex, random, queue, number, row, far_row, length;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);
	struct port_config *config = bpf_map_lookup_elem(&port_config, &key), *own_config;
	struct port_counters *all = bpf_map_lookup_elem(&port_counters, &key), *count;
	struct queue *port = bpf_map_lookup_elem(&port_queue, &key), *own;
	struct roce *packet = data_packet(skb); /* first: it may move the packet */
	struct ip_place ip = ip_of(skb, packet);
	struct size size = size_of(skb, &ip);
	struct departures *left, *all_left;
	struct red *shared_red, red;
	struct port_config room = {};
#if POOL
	struct entry into = {.place = SHARED};
	int accounted;
#endif
	int held = 0, lost, full, early, ect = ip.traffic_class & 3, mark, trims;
	__u64 now, tx_bytes;

	if (!classes || !config || !all || !port || !config->drain)
		return TC_ACT_OK;
	if (settings.xoff && skb->protocol == bpf_htons(ETH_P_PAUSE))
		return TC_ACT_OK; /* only wakes the shaper up; see testbed.engines.kernel.rack.gate */
	length = size.bytes;
	number = queue_of(classes, &ip);
	row = row_of(classes, key, number);
	far_row = row_of(classes, config->peer, number);
	own_config = bpf_map_lookup_elem(&port_config, &row);
	count = bpf_map_lookup_elem(&port_counters, &row);
	own = bpf_map_lookup_elem(&port_queue, &row);
	shared_red = bpf_map_lookup_elem(&port_red, &row);
	left = bpf_map_lookup_elem(&departures, &far_row);
	all_left = bpf_map_lookup_elem(&departures, &config->peer);
	if (!own_config || !count || !own || !shared_red || !left || !all_left)
		return TC_ACT_OK;

	red = red_now(shared_red);
	now = bpf_ktime_get_ns();
#if POOL && !defined(VIRTUAL)
	held = is_held(key, port->last_ns, now);
#endif
	room.buffer = own_config->buffer;
#if POOL
	accounted = is_accounted(&into, classes, skb, packet, row);
	if (accounted)
		look_for_room(&into, length, &room.buffer);
#endif
	bpf_spin_lock(&port->lock);
	random = next_random(port);
	queue = backlog(count, left);
	tx_bytes = all_left->bytes;
	lost = config->loss && random <= config->loss;
	measure_share(own, &room, length, (left->bytes - own->tx_bytes) << RATE_SHIFT, queue);
	own->tx_bytes = left->bytes;
	full = !finds_room(own, &room, length, queue, random * 2246822519u);
#if POOL
	full |= into.place == NOWHERE;
#endif
	trims = full && can_trim(classes, packet, length);
	/* A second draw for marking, so that loss and marking are independent. */
	early = red_marks(&red, queue, random * 2654435761u);
	if (!ect && early && classes->wred >> number & 1)
		full = 1;
	lost &= !trims; /* their headers may be, instead */
	mark = !full && !lost && ect && early && !classes->at_dequeue;
	count_found(count, queue, size.packets);
	count_found(all, backlog(all, all_left), size.packets);
	if (!full && !lost) {
#ifndef VIRTUAL
		count_stalled(port, all, config, backlog(all, all_left), length, now, held);
#else
		(void)held;
#endif
		count_entry(all, backlog(all, all_left), &size, mark, now);
		count_entry(count, queue, &size, mark, now);
	}
	bpf_spin_unlock(&port->lock);

	if (trims) {
		__sync_fetch_and_add(&all->trimmed_packets, 1);
		__sync_fetch_and_add(&count->trimmed_packets, 1);
		return trim(skb, classes);
	}
#if POOL
	if (accounted)
		enter_memory(&into, classes, length, full || lost);
#endif
	if (lost || full) {
		count_loss(all, lost, &size);
		count_loss(count, lost, &size);
		return TC_ACT_SHOT;
	}
	skb->priority = FIRST_QUEUE + number;
	if (!packet) {
		if (mark)
			mark_ce(skb, &ip);
#if POOL
		if (accounted)
			write_ingress(skb);
#endif
		return TC_ACT_OK;
	}
	if (settings.monitor)
		count_flow(row, packet, length, now);
	if (mark)
		set_ce(packet);
	if (packet->shim.flags & SHIM_INT)
		stamp_int(skb, packet, config, now, queue, tx_bytes);
#if POOL
	if (accounted)
		write_ingress(skb); /* last: the packet may move */
#endif
	return TC_ACT_OK;
}

#endif
