/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Adaptive routing: of the ports on equally short paths the one with the shortest queue, of equal ones any. So does DRILL
 * with all ports for samples (Ghorbani et al., SIGCOMM 2017). A switch knows the queues of its own ports alone.
 */
#ifndef TESTBED_ADAPTIVE_BPF_H
#define TESTBED_ADAPTIVE_BPF_H

#include "draws.bpf.h"

/* By number of the switch << 8 | the second byte of the destination's address, which is that of its switch. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct next_hops);
} next_hops SEC(".maps");

/* Bytes << RATE_SHIFT that wait at a port; nothing is worse than a link that is down. */
static __always_inline __u64 waiting_at(__u32 port, __u64 now)
{
	struct port_config *config = bpf_map_lookup_elem(&port_config, &port);
	struct queue *queue = bpf_map_lookup_elem(&port_queue, &port);
	struct pause *pause = settings.xoff ? bpf_map_lookup_elem(&pauses, &port) : NULL;
	__u64 bytes, since, dt;

	if (!config || !queue || config->loss == LINK_DOWN)
		return ~0ull;
#if CLASSES
	struct port_counters *all = bpf_map_lookup_elem(&port_counters, &port);
	struct departures *left = bpf_map_lookup_elem(&departures, &config->peer);

	return all && left ? (__u64)backlog(all, left) << RATE_SHIFT : 0;
#endif
	bpf_spin_lock(&queue->lock);
	bytes = queue->bytes;
	since = queue->last_ns;
	bpf_spin_unlock(&queue->lock);
	if (now < since) /* another core has been here */
		return bytes;
	dt = now - since;
	if (pause)
		dt -= paused_between(pause, since, now);
	return dt > config->longest_ns || dt * config->drain > bytes ? 0 : bytes - dt * config->drain;
}

/* Which of them it is. */
static __always_inline __u32 shortest_queue(const struct next_hops *hops, __u32 drawn, __u64 now)
{
	__u32 first = drawn % hops->count, best = first;
	__u64 least = ~0ull;

	for (__u32 i = 0; i < MOST_NEXT_HOPS && i < hops->count && least; i++) {
		__u32 hop = (first + i) % hops->count;
		__u64 bytes = hop < MOST_NEXT_HOPS ? waiting_at(hops->port[hop], now) : ~0ull;

		if (bytes < least) {
			least = bytes;
			best = hop;
		}
	}
	return best;
}

/* Where packets come in, behind all other programs. Linux takes the middle of the hop's share of hashes for it. */
SEC("tc")
int port_route(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	struct port_config *config = bpf_map_lookup_elem(&port_config, &key);
	struct next_hops *hops;
	__be32 to, psn = 0, qp = 0; /* which packet of which flow it is */
	__u32 drawn;

	if (!config || skb->protocol != bpf_htons(ETH_P_IP) ||
	    bpf_skb_load_bytes(skb, __builtin_offsetof(struct roce, dst_ip), &to, sizeof(to)))
		return TC_ACT_UNSPEC;
	key = config->node >> 16 << 8 | (bpf_ntohl(to) >> 16 & 0xff);
	hops = bpf_map_lookup_elem(&next_hops, &key);
	if (!hops || hops->count < 2)
		return TC_ACT_UNSPEC;
	bpf_skb_load_bytes(skb, __builtin_offsetof(struct roce, psn), &psn, sizeof(psn));
	bpf_skb_load_bytes(skb, __builtin_offsetof(struct roce, qp), &qp, sizeof(qp));
	drawn = draw(settings.seed + config->node, bpf_ntohl(qp), bpf_ntohl(psn));
	bpf_set_hash(skb, (((2 * (__u64)shortest_queue(hops, drawn, bpf_ktime_get_ns()) + 1) << 31) / hops->count) | 1);
	return TC_ACT_UNSPEC;
}

#endif
