// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/*
 * A switch port.
 *
 * port_egress   the queue.
 * port_ingress  at the ports between switches: what came out of the link. (At the end of a host's link that is nic_tx.)
 *
 * A virtual queue drains at exactly the port's rate: tail drop at the buffer (scarce.bpf.h), RED marking on the instantaneous queue
 * (Kmin, Kmax, Pmax), INT stamping, counters. A shaper qdisc of the same rate below this hook does the physical
 * serialising. Works under any forwarding.
 *
 * Timers of a busy machine are late, and a shaper that wakes up late has lost that time for good. So the virtual queue
 * never claims to be shorter than what physically waits: it is corrected upwards, and the correction is counted. Nor longer:
 * packets that have left the shaper may wait for a core at the far end, and a queue that never empties would keep that
 * correction for ever.
 *
 * With priority flow control the buffer limit is not the egress's but the ingress's: xoff and headroom of the port at
 * which a packet came in. See pause.bpf.h. A port between switches that is itself paused does not drain, but for ACKs
 * and CNPs, which are in another class. Its shaper's bucket fills meanwhile, and the gate lets a frame pass that has
 * begun: the correction downwards keeps that from adding up.
 *
 * Every IP packet waits, counts and is marked, whoever sent it (ip.bpf.h); INT and PFC are of our data alone.
 *
 * Compiled with CLASSES, ports have several queues: queues.bpf.h.
 *
 * Compiled with BOLT, ports also speak that protocol: bolt.bpf.h. Nobody else's packets pass an instruction of it.
 *
 * This hook runs before the qdisc, so INT is stamped at enqueue. tx_bytes therefore counts *dequeued* bytes (enqueued
 * minus queue), or HPCC's rate term would count the queue twice.
 */
#include "monitor.bpf.h"
#include "pause.bpf.h"
#if POOL
#include "pool.bpf.h"
#endif
#include "red.bpf.h"

const volatile struct port_settings settings = {};

#include "scarce.bpf.h"

#if CLASSES
#include "departures.bpf.h"
#endif

#ifdef BOLT
#include "bolt.bpf.h"
#endif
#if MANY_PATHS
#include "adaptive.bpf.h"
#endif

/* log2 with 2^QUEUE_SUB_BITS linear bins per octave; the same arithmetic as histogram.py. */
static __always_inline __u32 bin_of(__u32 bytes)
{
	__u32 octave = 0, rest = bytes >> QUEUE_SUB_BITS;

	if (rest >= 1 << 16) { octave += 16; rest >>= 16; }
	if (rest >= 1 << 8) { octave += 8; rest >>= 8; }
	if (rest >= 1 << 4) { octave += 4; rest >>= 4; }
	if (rest >= 1 << 2) { octave += 2; rest >>= 2; }
	if (rest >= 1 << 1) { octave += 1; rest >>= 1; }
	if (!rest)
		return bytes;
	return ((octave + 1) << QUEUE_SUB_BITS) + ((bytes >> octave) & ((1 << QUEUE_SUB_BITS) - 1));
}

#define STAMPED (HOPS_OFFSET + sizeof(struct int_hop))

/* The headers of a data packet, in place; none for anything else. */
static __always_inline struct roce *data_packet(struct __sk_buff *skb)
{
	struct roce *packet;

	if (skb->protocol != bpf_htons(ETH_P_IP) || skb->len < sizeof(*packet))
		return NULL;
	if ((void *)(long)skb->data + STAMPED > (void *)(long)skb->data_end) /* short, or headers in a page fragment */
		bpf_skb_pull_data(skb, skb->len < STAMPED ? sizeof(*packet) : STAMPED);
	packet = (void *)(long)skb->data;
	if ((void *)(packet + 1) > (void *)(long)skb->data_end)
		return NULL;
	if (packet->version_ihl != 0x45 || packet->protocol != 17 || packet->dst_port != bpf_htons(ROCE_PORT))
		return NULL;
	return is_data(packet) ? packet : NULL;
}

/* What a port needs to know of any packet; of data it is at hand. */
static __always_inline struct ip_place ip_of(const struct __sk_buff *skb, const struct roce *packet)
{
	return packet ? (struct ip_place){.at = ETH_HLEN, .traffic_class = packet->tos} : find_ip(skb);
}

/* mark_ce, in place. */
static __always_inline void set_ce(struct roce *packet)
{
	packet->ip_csum = csum_of_ce(packet->ip_csum, 0x4500u | packet->tos);
	packet->tos |= 3;
}

static __always_inline void stamp_int(struct __sk_buff *skb, struct roce *packet, const struct port_config *config,
				      __u64 now, __u32 queue, __u64 tx_bytes)
{
	struct int_header *header = (void *)packet + INT_OFFSET;
	__u32 version, remaining, reserved;
	struct int_hop hop = {
		.node = bpf_htonl(config->node),
		.queue = bpf_htonl(queue),
		.ts_ns = bpf_cpu_to_be64(now),
		.tx_bytes = bpf_cpu_to_be64(tx_bytes),
		.rate = bpf_htonl(config->rate_kbps),
	};

	if ((void *)packet + STAMPED > (void *)(long)skb->data_end)
		return;
	version = bpf_ntohl(header->version);
	remaining = version & 0xff;
	reserved = ((__u32)header->length * 4 - (sizeof(*header) - 4)) / sizeof(hop);
	if (!remaining || remaining > reserved || reserved > MAX_HOPS)
		return; /* the stack is full: the sender sees fewer hops than the path has */
	header->version = bpf_htonl(version - 1);
	if (remaining == reserved) /* the first hop lies right behind the header */
		*(struct int_hop *)((void *)packet + HOPS_OFFSET) = hop;
	else /* the verifier knows no variable offset; this is the last look at the packet, which it may move */
		bpf_skb_store_bytes(skb, HOPS_OFFSET + (reserved - remaining) * sizeof(hop), &hop, sizeof(hop), 0);
}

#if CLASSES
#include "queues.bpf.h"
#else
#ifdef VIRTUAL
/* By ifindex: bytes that have left the port, where packets wait for their line. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
} departed SEC(".maps");
#endif

/* In the kernel they are what has come out of the link: no time passes by it. */
static __always_inline __u64 *bytes_left(const struct port_config *config, __u32 port)
{
#ifdef VIRTUAL
	(void)config;
	return bpf_map_lookup_elem(&departed, &port);
#else
	struct arrivals *far = bpf_map_lookup_elem(&arrivals, &config->peer);

	(void)port;
	return far ? &far->bytes : NULL;
#endif
}

SEC("tc")
int port_egress(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex, length, random, queue, bin;
	struct port_config *config = bpf_map_lookup_elem(&port_config, &key);
	struct port_counters *count = bpf_map_lookup_elem(&port_counters, &key);
	struct queue *port = bpf_map_lookup_elem(&port_queue, &key);
	struct red *shared_red = bpf_map_lookup_elem(&port_red, &key);
	struct roce *packet = data_packet(skb); /* first: it may move the packet */
	struct ip_place ip = ip_of(skb, packet);
	struct size size = size_of(skb, &ip);
	__u32 ingress_port = settings.xoff && packet ? skb->ingress_ifindex : 0;
	struct ingress *ingress = ingress_port ? bpf_map_lookup_elem(&ingresses, &ingress_port) : NULL;
	__u64 *left = config ? bytes_left(config, key) : NULL;
	struct pause *pause = settings.xoff ? bpf_map_lookup_elem(&pauses, &key) : NULL;
	struct red red;
	__u64 now, dt, paused = 0, drained, before, tx_bytes;
	int full, lost, mark, passes = 0, overrun = ingress && ingress->bytes + size.bytes > settings.limit;

#ifdef BOLT
	struct port_bolt *bolt = bpf_map_lookup_elem(&port_bolt, &key);
	__u8 flags = packet ? packet->shim.flags : 0, told = flags;

	if (!bolt)
		return TC_ACT_OK;
#endif
	if (!config || !count || !port || !shared_red || !config->drain)
		return TC_ACT_OK;
	if (settings.xoff && skb->protocol == bpf_htons(ETH_P_PAUSE))
		return TC_ACT_OK; /* only wakes the shaper up; see testbed.engines.kernel.rack.gate */

	length = size.bytes;
	red = red_now(shared_red);
	now = bpf_ktime_get_ns();
	bpf_spin_lock(&port->lock);
	random = next_random(port);
	/* Another core may have been here with a later time: then no time has passed. */
	if (now < port->last_ns)
		now = port->last_ns;
	dt = now - port->last_ns;
	before = port->bytes;
	if (pause) {
		paused = paused_between(pause, port->last_ns, now);
		count->area += (before >> RATE_SHIFT) * paused;
		dt -= paused;
		passes = !packet && paused_between(pause, now, now + 1);
	}
	if (dt > config->longest_ns || dt * config->drain > before) {
		/* emptied on the way: a triangle of height q and base q/rate */
		__u64 q = before >> RATE_SHIFT;

		drained = before;
		count->area += q * (q * 1000000000 / config->rate_Bps) / 2;
	} else {
		__u64 mean = before - dt * config->drain / 2;

		drained = dt * config->drain;
		count->area += (mean >> RATE_SHIFT) * dt + ((mean & ((1ull << RATE_SHIFT) - 1)) * dt >> RATE_SHIFT);
	}
	before -= drained;
	if (left && config->peer) {
		__u64 waiting = count->bytes - *left;

		if (waiting < 1ull << 31 && waiting > (before >> RATE_SHIFT) + config->slack) {
			count->stalled += waiting - config->slack - (before >> RATE_SHIFT);
			before = (waiting - config->slack) << RATE_SHIFT;
		} else if (waiting + config->slack < before >> RATE_SHIFT) {
			before = (waiting + config->slack) << RATE_SHIFT;
		}
	}
	queue = before >> RATE_SHIFT;
	if (count->bytes - queue > port->tx_bytes)
		port->tx_bytes = count->bytes - queue;
	tx_bytes = port->tx_bytes;
#ifdef BOLT
	renew_supply(bolt, config, dt, length);
	told = bolt_flags(bolt, queue, flags);
#endif
	lost = config->loss && random <= config->loss;
	if (settings.xoff) {
		full = overrun;
	} else {
		measure_share(port, config, length, drained, queue);
		full = !finds_room(port, config, length, queue, random * 2246822519u);
	}
	if (!full && !lost && !passes)
		before += (__u64)length << RATE_SHIFT;
	port->bytes = before;
	port->last_ns = now;
	count->queue = before >> RATE_SHIFT;
	count->last_ns = now;
	if (!full && !lost) {
		count->packets += size.packets;
		count->bytes += length;
	}
	/* A second draw for marking, so that loss and marking are independent. */
	mark = !full && !lost && (ip.traffic_class & 3) && red_marks(&red, queue, random * 2654435761u);
	if (mark) {
		count->marked_packets += size.packets;
		count->marked_bytes += length;
	}
	if (count->queue > count->peak)
		count->peak = count->queue;
	count->found += (__u64)queue * size.packets;
	bin = bin_of(queue);
	if (bin < QUEUE_BINS)
		count->histogram[bin] += size.packets;
	bpf_spin_unlock(&port->lock);

#ifdef BOLT
	if (packet) {
		skb->priority = LOSSLESS_CLASS; /* behind all answers */
		packet->shim.flags = told;
		if (told & ~flags & SHIM_DEC) {
			send_src(skb, queue);
			packet = data_packet(skb); /* it may have moved */
			if (!packet)
				return TC_ACT_SHOT;
		}
	}
#endif
	if (lost) {
		count_lost(count, size.packets);
		return TC_ACT_SHOT;
	}
	if (full) {
		__sync_fetch_and_add(&count->dropped_packets, size.packets);
		__sync_fetch_and_add(&count->dropped_bytes, length);
		return TC_ACT_SHOT;
	}
	if (settings.xoff && packet)
		skb->priority = LOSSLESS_CLASS;
	if (ingress) {
		packet->shim.ingress = bpf_htons(ingress_port);
		enter_switch(ingress_port, ingress, length, settings.xoff);
	}
	if (settings.monitor && packet)
		count_flow(key, packet, length, now);
	if (!packet) {
		if (mark)
			mark_ce(skb, &ip);
		return TC_ACT_OK;
	}
	if (mark)
		set_ce(packet);
	if (packet->shim.flags & SHIM_INT)
		stamp_int(skb, packet, config, now, queue, tx_bytes);
	return TC_ACT_OK;
}
#endif

SEC("tc")
int port_ingress(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	struct port_config *config = bpf_map_lookup_elem(&port_config, &key);
	struct roce packet;

	if (settings.xoff && read_pause(skb)) { /* also on a link that is down: no port stays paused */
		signal_received(key);
		return TC_ACT_SHOT; /* it bypassed the port's queue, where packets are counted */
	}
#if CLASSES
	count_left(skb);
#else
	if (settings.xoff && read_roce(skb, &packet, bpf_htons(ROCE_PORT)) && is_data(&packet))
		leave_switch(bpf_ntohs(packet.shim.ingress), skb->len, settings.xon);
#endif
#if POOL
	if (count_given_back(skb)) {
		drop_left(skb);
		count_arrival(skb, 0);
		return TC_ACT_SHOT;
	}
#endif
	if (config && config->loss == LINK_DOWN) {
		struct port_counters *sender = bpf_map_lookup_elem(&port_counters, &config->peer);

		if (sender)
			count_lost(sender, 1);
		count_arrival(skb, 0);
		return TC_ACT_SHOT;
	}
	count_arrival(skb, 1);
	if (MANY_PATHS && (settings.routing == SPRAYED || settings.routing == BY_FLOWLET) &&
	    read_roce(skb, &packet, bpf_htons(ROCE_PORT)) && (settings.routing == SPRAYED || is_data(&packet)))
		bpf_set_hash(skb, (bpf_get_hash_recalc(skb) + key) * 2654435761u | 1); /* not as the switch before */
	return TC_ACT_UNSPEC; /* on to the next program */
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
