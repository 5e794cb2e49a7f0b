/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Packets that others have sent: any IPv4 or IPv6 packet has a DSCP and ECN bits, whatever it carries, with VLAN tags or
 * without. What crosses a veth unsegmented (GSO) is as many packets as a wire would have carried.
 */
#ifndef TESTBED_IP_BPF_H
#define TESTBED_IP_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#ifndef GSO
#define GSO 1 /* none in virtual time */
#endif

#define TAG 4 /* bytes of a VLAN tag */
#define IPV4_CSUM 10 /* its place in the header */

struct ip_place {
	__u32 at; /* of the IP header in the frame; 0 for none */
	__u32 v6;
	__u8 traffic_class; /* DSCP << 2 | ECN */
};

/* Tags that the kernel has taken off are not in the frame. */
static __always_inline struct ip_place find_ip(const struct __sk_buff *skb)
{
	struct ip_place place = {};
	__u32 at = sizeof(struct ethhdr);
	__be16 protocol = skb->protocol;
	__u8 begin[2];

#pragma unroll
	for (int tag = 0; tag < 2; tag++) {
		if (protocol != bpf_htons(ETH_P_8021Q) && protocol != bpf_htons(ETH_P_8021AD))
			break;
		if (bpf_skb_load_bytes(skb, at + TAG - sizeof(protocol), &protocol, sizeof(protocol)))
			return place;
		at += TAG;
	}
	if (protocol != bpf_htons(ETH_P_IP) && protocol != bpf_htons(ETH_P_IPV6))
		return place;
	if (bpf_skb_load_bytes(skb, at, begin, sizeof(begin)))
		return place;
	place.at = at;
	place.v6 = protocol == bpf_htons(ETH_P_IPV6);
	place.traffic_class = place.v6 ? begin[0] << 4 | begin[1] >> 4 : begin[1];
	return place;
}

/* The checksum of an IPv4 header whose first word changes from this to CE, by the difference (RFC 1624). */
static __always_inline __be16 csum_of_ce(__be16 csum, __u32 word)
{
	__u32 sum = (~bpf_ntohs(csum) & 0xffff) + (~word & 0xffff) + (word | 3);

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return bpf_htons(~sum & 0xffff);
}

/* From ECT to CE. */
static __always_inline void mark_ce(struct __sk_buff *skb, const struct ip_place *place)
{
	__u8 begin[2];
	__be16 csum;

	if (bpf_skb_load_bytes(skb, place->at, begin, sizeof(begin)))
		return;
	if (place->v6) {
		begin[1] |= 3 << 4;
		bpf_skb_store_bytes(skb, place->at + 1, &begin[1], 1, 0);
		return;
	}
	if (bpf_skb_load_bytes(skb, place->at + IPV4_CSUM, &csum, sizeof(csum)))
		return;
	csum = csum_of_ce(csum, (__u32)begin[0] << 8 | begin[1]);
	begin[1] |= 3;
	bpf_skb_store_bytes(skb, place->at + 1, &begin[1], 1, 0);
	bpf_skb_store_bytes(skb, place->at + IPV4_CSUM, &csum, sizeof(csum), 0);
}

struct size {
	__u32 packets;
	__u32 bytes; /* of all their frames */
};

static __always_inline int many_at_once(const struct __sk_buff *skb)
{
#if GSO
	return skb->gso_segs > 1;
#else
	(void)skb;
	return 0;
#endif
}

/* What the wire would carry of it: each packet has headers of its own. */
static __always_inline struct size size_of(const struct __sk_buff *skb, const struct ip_place *place)
{
	struct size size = {1, skb->len};
	__u32 headers = place->at + 40; /* of IPv6, if it has no extensions */
	__u8 byte, protocol = 17;

	if (!many_at_once(skb) || !place->at)
		return size;
	if (bpf_skb_load_bytes(skb, place->at + (place->v6 ? 6 : 9), &protocol, 1))
		return size;
	if (!place->v6) {
		if (bpf_skb_load_bytes(skb, place->at, &byte, 1))
			return size;
		headers = place->at + (byte & 0xf) * 4;
	}
	if (protocol == 6) {
		if (bpf_skb_load_bytes(skb, headers + 12, &byte, 1))
			return size;
		headers += (byte >> 4) * 4;
	} else {
		headers += 8;
	}
#if GSO
	size.packets = skb->gso_segs;
	size.bytes += (size.packets - 1) * headers;
#endif
	return size;
}

#endif
