/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Bolt at a switch port (NSDI 2023, sections 3.1 to 3.3): an SRC tells the sender of a packet that found a queue, in less
 * than its RTT; and a flow may grow by what flows that end will leave (PRU) or by what nobody has sent (SM).
 *
 * An SRC is made of a copy of the packet, where that would come in if its receiver had sent it: forwarding needs nothing
 * else. It carries one INT record, that of the port. Answers are in a class of their own, which goes first; they count in
 * the queue, for they take their time on the link, but they do not wait in it.
 */
#ifndef TESTBED_BOLT_BPF_H
#define TESTBED_BOLT_BPF_H

#include "flows.bpf.h"

#define MOST_LEAVING 256
#define MOST_DEBT (1ll << 62) /* bytes << RATE_SHIFT: a gigabyte */

/* Indexed by ifindex. Written under the lock of the port's queue, but for `made`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct port_bolt);
} port_bolt SEC(".maps");

struct src_packet {
	struct roce head;
	struct int_header header;
	struct int_hop hop;
	__be32 icrc;
} __attribute__((packed));

/* What the link could have carried in `dt` less what now comes, `length` bytes. */
static __always_inline void renew_supply(struct port_bolt *bolt, const struct port_config *config, __u64 dt, __u32 length)
{
	__s64 most = (__s64)settings.packet << RATE_SHIFT, supply = bolt->supply - ((__s64)length << RATE_SHIFT);

	if (dt > config->longest_ns || dt * config->drain > MOST_DEBT)
		supply = most;
	else
		supply += (__s64)(dt * config->drain);
	if (supply > most)
		supply = most;
	if (supply < -MOST_DEBT)
		supply = -MOST_DEBT;
	bolt->supply = supply;
}

/* The flags with which a data packet that found `queue` bytes goes on. */
static __always_inline __u8 bolt_flags(struct port_bolt *bolt, __u32 queue, __u8 flags)
{
	__s64 packet = (__s64)settings.packet << RATE_SHIFT;

	if (!(flags & SHIM_SRC))
		return flags;
	if (queue >= settings.src_from) {
		bolt->asked += !(flags & SHIM_DEC); /* or somebody upstream has told the sender already */
		return (flags & ~SHIM_INC) | SHIM_DEC;
	}
	if (flags & SHIM_LAST) {
		/* what is sent in the first RTT never was a share that others could take over */
		if (!(flags & SHIM_FIRST) && bolt->leaving < MOST_LEAVING)
			bolt->leaving++;
	} else if (flags & SHIM_INC) {
		if (bolt->leaving)
			bolt->leaving--;
		else if (bolt->supply >= packet)
			bolt->supply -= packet;
		else
			flags &= ~SHIM_INC;
	}
	return flags;
}

/* Have `port_src` make an SRC of a copy of the packet. The mark tells it the queue; no packet from a link has any. */
static __always_inline void send_src(struct __sk_buff *skb, __u32 queue)
{
	skb->mark = queue;
	bpf_clone_redirect(skb, skb->ifindex, BPF_F_INGRESS);
	skb->mark = 0;
}

/* Before all other programs where links end in a switch: what it makes is not counted as having come out of the link. */
SEC("tc")
int port_src(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex, queue = skb->mark, id;
	struct port_config *config = bpf_map_lookup_elem(&port_config, &key);
	struct port_bolt *bolt = bpf_map_lookup_elem(&port_bolt, &key);
	struct src_packet src = {};
	struct flow_tx *flow;

	if (!queue)
		return TC_ACT_UNSPEC; /* on to the next program */
	if (!config || !bolt || !read_roce(skb, &src.head, bpf_htons(ROCE_PORT)))
		return TC_ACT_SHOT;
	id = flow_of(&src.head);
	flow = bpf_map_lookup_elem(&flows_tx, &id);
	if (!flow)
		return TC_ACT_SHOT;
	src.header.type = 1 << 4;
	src.header.length = (sizeof(src.header) - 4 + sizeof(src.hop)) / 4;
	src.header.version = bpf_htonl(2u << 28 | sizeof(src.hop) / 4 << 8);
	src.header.domain = bpf_htons(INT_DOMAIN);
	src.header.domain_instructions = bpf_htons(INT_ALL);
	src.hop.node = bpf_htonl(config->node);
	src.hop.queue = bpf_htonl(queue);
	src.hop.ts_ns = bpf_cpu_to_be64(bpf_ktime_get_ns());
	src.hop.rate = bpf_htonl(config->rate_kbps);
	reverse(&src.head);
	src.head.shim.flags |= SHIM_INT;
	begin_answer(&src.head, BTH_SRC, sizeof(src));
	skb->mark = 0;
	bpf_skb_change_type(skb, 0); /* PACKET_HOST: its destination's address is not what it was */
	if (bpf_skb_change_tail(skb, sizeof(src), 0) || bpf_skb_store_bytes(skb, 0, &src, sizeof(src), BPF_F_INVALIDATE_HASH))
		return TC_ACT_SHOT;
	__sync_fetch_and_add(&bolt->made, 1);
	__sync_fetch_and_add(&flow->notices_made, 1);
	return TC_ACT_OK;
}

#endif
