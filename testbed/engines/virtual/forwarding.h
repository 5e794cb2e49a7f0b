/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a packet goes next, and which of several next hops it takes: Linux hashes addresses and ports (ecmp.h), unless
 * the packet has a hash already, which the programs gave it (nic.bpf.c). Adaptive routing takes the port with the shortest
 * queue, as DRILL does with all ports for samples (Ghorbani et al., SIGCOMM 2017).
 */
#ifndef TESTBED_FORWARDING_H
#define TESTBED_FORWARDING_H

#include "ecmp.h"
#include "world.h"

#if MANY_PATHS

/* xorshift32 (Marsaglia, 2003) */
uint32_t world_random(void)
{
	uint32_t x = (uint32_t)world->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	world->random = x;
	return x;
}

/* Bytes that wait at the port where a line begins; none are worse than those of a link that is down. */
static uint64_t waiting_at(const struct world *w, const struct line *l)
{
	const struct queue *queue = (const struct queue *)w->port_queue + l->from;
	const struct port_config *config = (const struct port_config *)w->port_config + l->from;
	uint64_t now = (uint64_t)w->now, dt = now - queue->last_ns;

	if (config->loss == LINK_DOWN)
		return UINT64_MAX;
	if (w->lossless)
		dt -= paused_between((struct pause *)w->pauses + l->from, queue->last_ns, now);
	if (dt > config->longest_ns || dt * config->drain > queue->bytes)
		return 0;
	return queue->bytes - dt * config->drain;
}

/* Of equal ones a random one. */
static int64_t shortest_queue(const struct world *w, const int64_t *hops)
{
	int64_t best = world_random() % (uint32_t)hops[0], first = best;
	uint64_t least = waiting_at(w, &w->lines[hops[1 + first]]);

	for (int64_t i = 1; i < hops[0] && least; i++) {
		int64_t hop = (first + i) % hops[0];
		uint64_t bytes = waiting_at(w, &w->lines[hops[1 + hop]]);

		if (bytes < least)
			least = bytes, best = hop;
	}
	return best;
}

#endif

/* `hops`: how many there are, and their lines. */
static inline int64_t next_hop(const struct world *w, int64_t here, const int64_t *hops, const struct roce *packet,
			       const struct __sk_buff *skb)
{
#if MANY_PATHS
	if (w->routing == ADAPTIVE)
		return shortest_queue(w, hops);
	if (skb->hash)
		return hop_of_hash(skb->hash, hops[0]);
#else
	(void)skb;
#endif
	return ecmp_choice(packet, w->hash_seed[here], hops[0]);
}

static struct line *next_line(struct world *w, int64_t here, const struct roce *packet, const struct __sk_buff *skb)
{
	int64_t host = (bpf_ntohl(packet->dst_ip) & 0xffff) - 1, edge, *hops;

	if (host < 0 || host >= w->host_count)
		return NULL;
	edge = w->edge[host];
	if (edge == here)
		return &w->lines[w->down[host]];
	hops = w->hops + w->hops_at[here * w->switch_count + edge];
	if (!hops[0])
		return NULL;
	return &w->lines[hops[1 + (hops[0] > 1 ? next_hop(w, here, hops, packet, skb) : 0)]];
}

/* As a router does: one hop less to live, and the addresses of the next link. */
static int route(struct roce *packet, const struct line *l)
{
	uint32_t sum = (uint32_t)bpf_ntohs(packet->ip_csum) + 0x100;

	if (packet->ttl < 2)
		return 0;
	packet->ttl--;
	packet->ip_csum = bpf_htons((uint16_t)(sum + (sum >> 16)));
	memcpy(packet->dst_mac, l->macs, 12);
	return 1;
}

#endif
