/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * What leaves the queues of a port that has several: counted, and with marking at dequeue marked. In virtual time the line
 * says so; in the kernel no program runs behind a qdisc, and it is where the packet has come out of its link, by which no
 * time has passed.
 */
#ifndef TESTBED_DEPARTURES_BPF_H
#define TESTBED_DEPARTURES_BPF_H

#include "classes.bpf.h"
#include "red.bpf.h"

/* RED at dequeue: a packet leaves a queue of the port `key`, in which `behind` bytes wait behind it. */
static __always_inline void leave_queue(struct __sk_buff *skb, const struct ip_place *ip, __u32 key, __u32 number,
					__u32 behind)
{
	__u32 first = 0, row;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);
	struct port_counters *all = bpf_map_lookup_elem(&port_counters, &key), *count;
	struct queue *port = bpf_map_lookup_elem(&port_queue, &key);
	struct red *shared_red, red;
	int mark;

	if (!classes || !all || !port || !(ip->traffic_class & 3))
		return;
	row = row_of(classes, key, number);
	count = bpf_map_lookup_elem(&port_counters, &row);
	shared_red = bpf_map_lookup_elem(&port_red, &row);
	if (!count || !shared_red)
		return;
	red = red_now(shared_red);
	bpf_spin_lock(&port->lock);
	mark = red_marks(&red, behind, next_random(port) * 2654435761u);
	if (mark) {
		all->marked_packets++;
		all->marked_bytes += skb->len;
		count->marked_packets++;
		count->marked_bytes += skb->len;
	}
	bpf_spin_unlock(&port->lock);
	if (mark)
		mark_ce(skb, ip);
}

/* The packet has come out of its link, whose ends have neighbouring numbers. */
static __always_inline void count_left(struct __sk_buff *skb)
{
#ifndef VIRTUAL
	__u32 first = 0, interface = skb->ifindex, port = interface ^ 1, row, port_row, number;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);
	struct departures *all = bpf_map_lookup_elem(&departures, &interface), *own;
	struct ip_place ip = find_ip(skb);
	struct size size = size_of(skb, &ip);
	struct port_counters *count;
	__u64 now = bpf_ktime_get_ns();

	if (!classes || !all)
		return;
	number = queue_of(classes, &ip);
	row = row_of(classes, interface, number);
	port_row = row_of(classes, port, number);
	own = bpf_map_lookup_elem(&departures, &row);
	count = bpf_map_lookup_elem(&port_counters, &port_row);
	if (!own || !count)
		return;
	count_departure(own, &size, now);
	count_departure(all, &size, now);
	if (classes->at_dequeue)
		leave_queue(skb, &ip, port, number, backlog(count, own));
#else
	(void)skb;
#endif
}

/* A packet that has come out of its link is dropped for its queue: by row of that, and for all. */
static __always_inline void drop_left(struct __sk_buff *skb)
{
	__u32 first = 0, port = skb->ifindex ^ 1, row;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);
	struct port_counters *all = bpf_map_lookup_elem(&port_counters, &port), *count;
	struct ip_place ip = find_ip(skb);

	if (!classes || !all)
		return;
	row = row_of(classes, port, queue_of(classes, &ip));
	count = bpf_map_lookup_elem(&port_counters, &row);
	if (!count)
		return;
	__sync_fetch_and_add(&all->dropped_packets, 1);
	__sync_fetch_and_add(&all->dropped_bytes, skb->len);
	__sync_fetch_and_add(&count->dropped_packets, 1);
	__sync_fetch_and_add(&count->dropped_bytes, skb->len);
}

#endif
