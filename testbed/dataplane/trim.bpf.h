/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Packet trimming, as SONiC's SWITCH_TRIMMING says it: a packet that found its queue full comes to the port once more as its
 * headers, with a DSCP by which its receiver knows them. Their queue is that of the DSCP; if that is full as well, they are
 * dropped like anything else. Their ECN bits stay as they were (Ultra Ethernet 1.0, 4.1.1). (Linux knows how long a packet is before this hook: only what is redirected is measured again.)
 */
#ifndef TESTBED_TRIM_BPF_H
#define TESTBED_TRIM_BPF_H

static __always_inline int can_trim(const struct class_table *classes, const struct roce *packet, __u32 length)
{
	return classes->trim_size && packet && packet->tos >> 2 != classes->trim_tos >> 2 && length > classes->trim_size;
}

/* An RETH is behind INT. */
static __always_inline void keep_reth(struct __sk_buff *skb, const struct roce *packet)
{
	__u8 reth[RETH_SIZE], words;

	if (packet->opcode < BTH_WRITE || !(packet->shim.flags & SHIM_INT))
		return;
	if (bpf_skb_load_bytes(skb, INT_OFFSET + __builtin_offsetof(struct int_header, length), &words, 1) ||
	    bpf_skb_load_bytes(skb, INT_OFFSET + 4 + 4 * (__u32)words, reth, sizeof(reth)))
		return;
	bpf_skb_store_bytes(skb, INT_OFFSET, reth, sizeof(reth), 0);
}

/* INT stays behind: what is left of it need not be whole. */
static __attribute__((noinline)) int trim(struct __sk_buff *skb, const struct class_table *classes)
{
	__u32 size = classes->trim_size;
	struct roce *packet;

	packet = data_packet(skb);
	if (packet)
		keep_reth(skb, packet);
	if (bpf_skb_change_tail(skb, size, 0))
		return TC_ACT_SHOT;
	packet = data_packet(skb);
	if (!packet)
		return TC_ACT_SHOT;
	packet->tos = classes->trim_tos | (packet->tos & 3);
	packet->shim.flags &= ~SHIM_INT;
	packet->udp_csum = 0;
	begin_answer(packet, packet->opcode, size);
	return bpf_redirect(skb->ifindex, 0);
}

#endif
