/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of several next hops Linux takes (net/ipv4/fib_semantics.c, fib_multipath_hash_policy 1): SipHash-2-4 over
 * addresses, ports and protocol, the smaller address and the smaller port first, with a key of the switch's seed. The
 * upper 31 bits choose: each hop has an equal share of their range.
 */
#ifndef TESTBED_ECMP_H
#define TESTBED_ECMP_H

#include "../../dataplane/maps.h"

#define ROTATE(x, by) ((x) << (by) | (x) >> (64 - (by)))
#define ROUND(v)                                                                                                       \
	do {                                                                                                           \
		v[0] += v[1], v[1] = ROTATE(v[1], 13) ^ v[0], v[0] = ROTATE(v[0], 32);                                  \
		v[2] += v[3], v[3] = ROTATE(v[3], 16) ^ v[2];                                                          \
		v[0] += v[3], v[3] = ROTATE(v[3], 21) ^ v[0];                                                          \
		v[2] += v[1], v[1] = ROTATE(v[1], 17) ^ v[2], v[2] = ROTATE(v[2], 32);                                  \
	} while (0)

/* What Linux hashes: its struct flow_keys from `basic` on, of which UDP over IPv4 fills these fields. */
struct flow_keys {
	uint16_t ethertype; /* 0 */
	uint8_t protocol, padding;
	uint8_t unused[24]; /* label, VLANs, key of a tunnel */
	uint16_t src_port, dst_port;
	uint8_t icmp[4];
	uint32_t src, dst;
	uint32_t rest; /* of the union of addresses: Linux hashes as many bytes as its struct is longer by alignment */
} __attribute__((packed));

static uint64_t siphash(const uint8_t *data, int64_t length, uint64_t key)
{
	uint64_t v[4] = {0x736f6d6570736575ull ^ key, 0x646f72616e646f6dull ^ key, 0x6c7967656e657261ull ^ key,
			 0x7465646279746573ull ^ key};
	uint64_t word, last = (uint64_t)length << 56;
	int64_t at = 0;

	for (; at + 8 <= length; at += 8) {
		memcpy(&word, data + at, 8);
		v[3] ^= word;
		ROUND(v);
		ROUND(v);
		v[0] ^= word;
	}
	for (int64_t i = 0; at + i < length; i++)
		last |= (uint64_t)data[at + i] << (8 * i);
	v[3] ^= last;
	ROUND(v);
	ROUND(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		ROUND(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/*
 * The kernel compares with the upper bound of each hop's share, ((i + 1) << 31) / hops - 1, rounded to the nearest. Which is the
 * first that is not below the hash, multiplying says as well.
 */
static int64_t hop_of_hash(uint32_t hash, int64_t hops)
{
	uint64_t share = ((uint64_t)((hash ? hash : 1) >> 1) + 1) * (uint64_t)hops - (uint64_t)hops / 2;

	return (int64_t)((share + (1ull << 31) - 1) >> 31) - 1;
}

static int64_t ecmp_choice(const struct roce *packet, uint64_t seed, int64_t hops)
{
	struct flow_keys keys = {.protocol = packet->protocol, .src = packet->src_ip, .dst = packet->dst_ip};

	if (packet->protocol == 6 || packet->protocol == 17)
		keys.src_port = packet->src_port, keys.dst_port = packet->dst_port;
	if (keys.dst < keys.src)
		keys.src = packet->dst_ip, keys.dst = packet->src_ip;
	if (keys.dst_port < keys.src_port)
		keys.src_port = packet->dst_port, keys.dst_port = packet->src_port;
	return hop_of_hash((uint32_t)siphash((const uint8_t *)&keys, sizeof(keys), seed << 32 | seed), hops);
}

#endif
