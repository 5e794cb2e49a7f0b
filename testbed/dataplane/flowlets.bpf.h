/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * What the switches will hash: the entropy that the sender has chosen, or a number that is new for every packet (random
 * packet spraying: Dixit et al., INFOCOM 2013) or flowlet (LetFlow: Vanini et al., NSDI 2017). The hash goes with the packet
 * as its skb's, which Linux takes for ECMP where there is one; port_ingress makes another of it at each switch. A hash of 0
 * is none. Answers are sprayed as well: they are a fiftieth of the bytes, but hashed by their flow some links would carry
 * those of five flows where others carry none's, and what is sprayed over all links is held up by the fullest.
 */
#ifndef TESTBED_FLOWLETS_BPF_H
#define TESTBED_FLOWLETS_BPF_H

#include "draws.bpf.h"
#include "nic.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flowlet);
} flowlets SEC(".maps");

static __always_inline void choose_path(struct __sk_buff *skb, const struct roce *packet, __u32 id, __be32 psn, __u64 now)
{
	__u32 number = bpf_ntohl(psn);

	if (settings.routing == BY_SENDER) {
		__be16 port = bpf_htons(FIRST_PORT | (bpf_ntohl(packet->imm) & (ENTROPIES - 1)));

		bpf_skb_store_bytes(skb, __builtin_offsetof(struct roce, src_port), &port, sizeof(port),
				    BPF_F_INVALIDATE_HASH);
	} else if (settings.routing == SPRAYED) {
		bpf_set_hash(skb, draw(settings.seed, id, number) | 1);
	} else if (settings.routing == BY_FLOWLET) {
		struct flowlet *flow = bpf_map_lookup_elem(&flowlets, &id);

		if (!flow)
			return;
		if (now - flow->last_ns > settings.flowlet_gap_ns)
			flow->hash = draw(settings.seed, id, number) | 1;
		flow->last_ns = now;
		bpf_set_hash(skb, flow->hash);
	}
}

#endif
