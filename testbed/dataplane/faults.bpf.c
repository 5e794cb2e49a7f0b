// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/* For `testbed selftest`: programs that come before those of NICs and ports, and do to one packet in sixteen what nobody
 * counts. */
#include "ports.bpf.h"

static __always_inline int is_chosen(struct __sk_buff *skb, __u8 opcode)
{
	struct roce packet;

	return read_roce(skb, &packet, bpf_htons(ROCE_PORT)) && packet.opcode == opcode && !(bpf_get_prandom_u32() & 15);
}

/* An ACK is lost. */
SEC("tc")
int drop(struct __sk_buff *skb)
{
	return is_chosen(skb, BTH_ACK) ? TC_ACT_SHOT : TC_ACT_UNSPEC; /* on to the next program */
}

/* A data packet is lost. */
SEC("tc")
int drop_data(struct __sk_buff *skb)
{
	return is_chosen(skb, BTH_SEND_ONLY_IMM) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

/* A data packet arrives twice. */
SEC("tc")
int twice(struct __sk_buff *skb)
{
	if (is_chosen(skb, BTH_SEND_ONLY_IMM))
		bpf_clone_redirect(skb, skb->ifindex, BPF_F_INGRESS);
	return TC_ACT_UNSPEC;
}

/* Before a port: data packets of an even source leave its last room to those of odd ones. */
SEC("tc")
int give_way(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	struct port_config *config = bpf_map_lookup_elem(&port_config, &key);
	struct port_counters *count = bpf_map_lookup_elem(&port_counters, &key);
	struct roce packet;

	if (!config || !count || !read_roce(skb, &packet, bpf_htons(ROCE_PORT)) || !is_data(&packet))
		return TC_ACT_UNSPEC;
	if (bpf_ntohl(packet.src_ip) & 1 || count->queue + (SCARCE + 2) * skb->len < config->buffer)
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&count->dropped_packets, 1);
	return TC_ACT_SHOT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
