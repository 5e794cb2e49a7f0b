/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * What the NIC and port programs share: reading RoCEv2 headers, and turning a data packet into an answer.
 */
#ifndef TESTBED_ROCE_BPF_H
#define TESTBED_ROCE_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "ip.bpf.h"
#include "maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct arrivals);
} arrivals SEC(".maps");

/* The frame has reached the end of its link; bytes also of those that are lost there, for they do not wait any more. */
static __always_inline void count_arrival(struct __sk_buff *skb, __u64 packets)
{
	__u32 key = skb->ifindex;
	struct arrivals *here = bpf_map_lookup_elem(&arrivals, &key);
	struct size size = {1, skb->len};

	if (!here)
		return;
	if (many_at_once(skb)) {
		struct ip_place ip = find_ip(skb);

		size = size_of(skb, &ip);
	}
	__sync_fetch_and_add(&here->bytes, size.bytes);
	__sync_fetch_and_add(&here->packets, packets * size.packets);
}

/* Copy the headers to the stack. Headers may lie in page fragments (after UDP segmentation), so load, do not map. */
static __always_inline int read_roce(struct __sk_buff *skb, struct roce *packet, __be16 port)
{
	if (skb->protocol != bpf_htons(ETH_P_IP) || skb->len < sizeof(*packet))
		return 0;
	if (bpf_skb_load_bytes(skb, 0, packet, sizeof(*packet)))
		return 0;
	return packet->version_ihl == 0x45 && packet->protocol == 17 && packet->dst_port == port;
}

static __always_inline void set_ip_checksum(struct roce *packet)
{
	__u8 *ip = &packet->version_ihl;
	__u32 sum = 0;

	packet->ip_csum = 0;
#pragma unroll
	for (int i = 0; i < 20; i += 2)
		sum += ((__u32)ip[i] << 8) | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	packet->ip_csum = bpf_htons(~sum & 0xffff);
}

static __always_inline void reverse(struct roce *packet)
{
	__u8 mac[6];
	__be32 ip = packet->src_ip;

	__builtin_memcpy(mac, packet->src_mac, 6);
	__builtin_memcpy(packet->src_mac, packet->dst_mac, 6);
	__builtin_memcpy(packet->dst_mac, mac, 6);
	packet->src_ip = packet->dst_ip;
	packet->dst_ip = ip;
	packet->shim.ttl = packet->ttl;
	packet->ttl = 64;
	packet->tos = 0; /* not ECN-capable, and in a class that is never paused */
	packet->shim.ingress = 0;
	packet->udp_csum = 0;
	packet->bth_flags &= ~BTH_PAD;
	packet->psn &= ~bpf_htonl((__u32)BTH_ACK_REQ << 24);
}

/* What its headers say, before `length` bytes of it are sent. */
static __always_inline void begin_answer(struct roce *packet, __u8 opcode, __u32 length)
{
	packet->opcode = opcode;
	packet->ip_len = bpf_htons(length - sizeof(struct ethhdr));
	packet->udp_len = bpf_htons(length - sizeof(struct ethhdr) - 20);
	set_ip_checksum(packet);
}

static __always_inline int is_data(const struct roce *packet)
{
	return packet->opcode <= BTH_WRITE + BTH_SEND_ONLY_IMM;
}

static __always_inline __u32 flow_of(const struct roce *packet)
{
	return (bpf_ntohl(packet->qp) & 0xffffff) - QP_BASE;
}

#endif
