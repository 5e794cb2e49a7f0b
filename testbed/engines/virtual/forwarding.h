/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a packet goes next, and which of several next hops it takes: Linux hashes addresses and ports (ecmp.h), unless
 * the packet has a hash already, which the programs gave it (nic.bpf.c). Adaptive routing asks the ports' program
 * (adaptive.bpf.h).
 */
#ifndef TESTBED_FORWARDING_H
#define TESTBED_FORWARDING_H

#include "ecmp.h"
#include "world.h"

static void catch_up(struct world *w, struct line *l, int64_t before); /* lines.h */

#if MANY_PATHS

/* As port_route does (adaptive.bpf.h). */
static int64_t adaptive_choice(struct world *w, int64_t here, const int64_t *hops, const struct roce *packet)
{
	struct next_hops ports = {.count = (uint32_t)hops[0]};
	uint32_t drawn = draw(port_constants.seed + (uint32_t)here, bpf_ntohl(packet->qp), bpf_ntohl(packet->psn));

	for (int64_t i = 0; i < hops[0]; i++) {
		catch_up(w, &w->lines[hops[1 + i]], w->now);
		ports.port[i] = (uint32_t)w->lines[hops[1 + i]].from;
	}
	return shortest_queue(&ports, drawn, (uint64_t)w->now);
}

#endif

/* `hops`: how many there are, and their lines. */
static inline int64_t next_hop(struct world *w, int64_t here, const int64_t *hops, const struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;

#if MANY_PATHS
	if (w->routing == ADAPTIVE)
		return adaptive_choice(w, here, hops, packet);
	if (p->hash)
		return hop_of_hash(p->hash, hops[0]);
#endif
	return ecmp_choice(packet, w->hash_seed[here], hops[0]);
}

/* How many next hops there are to a switch that has hosts, and their lines. */
static const int64_t *hops_to(const struct world *w, int64_t here, int64_t edge)
{
	return w->hops + w->hops_at[here * w->switch_count + edge];
}

#if MANY_PATHS
/* Of a packet that a host sends: the switch by way of which it goes, of those that have hosts (Valiant's routing). */
static void draw_way(const struct world *w, struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;
	uint32_t whom = bpf_ntohl(packet->qp) ^ packet->src_ip; /* answers go other ways */

	p->via = -1;
	if (w->routing == VALIANT)
		p->via = (int32_t)w->edge[draw(port_constants.seed, whom, bpf_ntohl(packet->psn)) % w->host_count];
}
#endif

/* The switch that a packet goes to from here: its host's, or first another one. */
static int64_t edge_of(const struct world *w, int64_t here, int64_t host, const struct packet *p)
{
#if MANY_PATHS
	if (p->via >= 0 && p->via != here)
		return p->via;
#else
	(void)here, (void)p;
#endif
	return w->edge[host];
}

static int64_t host_of(const struct world *w, const struct roce *packet)
{
	int64_t host = (bpf_ntohl(packet->dst_ip) & 0xffff) - 1;

	return host < w->host_count ? host : -1;
}

/* NULL if there are several, or none. */
static struct line *only_next_line(const struct world *w, int64_t here, const struct packet *p)
{
	int64_t host = host_of(w, (const struct roce *)p->bytes), edge;
	const int64_t *hops;

	if (host < 0)
		return NULL;
	edge = edge_of(w, here, host, p);
	if (edge == here)
		return &w->lines[w->down[host]];
	hops = hops_to(w, here, edge);
	return hops[0] == 1 ? &w->lines[hops[1]] : NULL;
}

static struct line *next_line(struct world *w, int64_t here, const struct packet *p)
{
	struct line *only = only_next_line(w, here, p);
	int64_t host = host_of(w, (const struct roce *)p->bytes);
	const int64_t *hops;

	if (only || host < 0)
		return only;
	hops = hops_to(w, here, edge_of(w, here, host, p));
	return hops[0] ? &w->lines[hops[1 + next_hop(w, here, hops, p)]] : NULL;
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
