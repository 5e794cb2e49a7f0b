// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/*
 * The NIC of a host.
 *
 * nic_tx  where packets leave the host: gives each data packet its number (PSN) and stamps its departure.
 * nic_rx  where packets arrive: turns data into its ACK in place and sends it back, as a RoCE NIC does in hardware,
 *         with at most one CNP per interval and flow when CE arrives (DCQCN's notification point); hands ACKs and CNPs
 *         of the host's own flows to its agent through a ring buffer; records for the agent when the switch pauses it.
 *
 * Compiled with BOLT it takes the SRCs of switches as well (bolt.bpf.h).
 */
#include "nic.bpf.h"
#include "draws.bpf.h"
#include "feedback.bpf.h"
#include "pause.bpf.h"
#if POOL
#include "intake.bpf.h"
#endif
#include "receive.bpf.h"
#if CLASSES
#include "departures.bpf.h"
#endif
#if MANY_PATHS
#include "flowlets.bpf.h"
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flow_rx);
} flows_rx SEC(".maps");

/* On a host's real interface everything else passes here as well. */
static __always_inline int read_own(struct __sk_buff *skb, struct roce *packet)
{
	return read_roce(skb, packet, settings.port) && packet->pkey == settings.pkey;
}

#define SENT (MANY_PATHS ? TC_ACT_UNSPEC : TC_ACT_OK) /* the former goes on to the next program: adaptive.bpf.h */

/* Whether the host's link loses the packet. What comes down it, its switch's port loses. */
static __always_inline int lost_on_link(const struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	struct arrivals *here = bpf_map_lookup_elem(&arrivals, &key);

	if (!here || __builtin_expect(!here->loss, 1))
		return 0;
	return draw(settings.seed, key, (__u32)__sync_fetch_and_add(&here->drawn, 1)) <= here->loss;
}

/*
 * A socket counts what has not left its host, and TCP sends no more than a millisecond ahead of that (TCP small queues). A veth
 * leaves it with the packet, so that it would count what waits in the switch's queue, too. A copy is nobody's: it comes
 * in here in the packet's place.
 */
static __always_inline int has_left_its_socket(struct __sk_buff *skb)
{
#ifdef VIRTUAL
	(void)skb; /* has none */
	return 0;
#else
	return settings.at_far_end && skb->sk && !bpf_clone_redirect(skb, skb->ifindex, BPF_F_INGRESS);
#endif
}

SEC("tc")
int nic_tx(struct __sk_buff *skb)
{
	struct roce packet;
	struct flow_tx *flow;
	__be32 psn;
	__be64 now;
	__u32 id;
	int own, lost, verdict;

#if POOL && !defined(VIRTUAL)
	if (settings.slow && settings.at_far_end && read_pause(skb)) { /* in virtual time the line's end does that */
		signal_received(skb->ifindex);
		return TC_ACT_SHOT; /* as at ports between switches */
	}
#endif
	own = read_own(skb, &packet);
	if (!own && has_left_its_socket(skb))
		return TC_ACT_SHOT;
	lost = lost_on_link(skb);
	verdict = lost ? TC_ACT_SHOT : SENT;
	if (settings.at_far_end)
		count_arrival(skb, !lost);
	if (!own)
		return verdict;
	id = flow_of(&packet);
	if (!is_data(&packet)) {
#if MANY_PATHS
		if (settings.routing == SPRAYED)
			bpf_set_hash(skb, draw(settings.seed, id, ~bpf_ntohl(packet.psn)) | 1);
#endif
		if (packet.opcode != BTH_CREDIT && !lost)
			return SENT;
	}
	flow = bpf_map_lookup_elem(&flows_tx, &id);
	if (!flow)
		return verdict;
	if (!is_data(&packet)) {
		if (packet.opcode == BTH_CREDIT)
			__sync_fetch_and_add(&flow->notices_made, 1);
		if (lost)
			__sync_fetch_and_add(&flow->answers_lost, 1);
		return verdict;
	}
	if (lost)
		__sync_fetch_and_add(&flow->lost, 1);
	psn = bpf_htonl(__sync_fetch_and_add(&flow->packets, 1) & 0xffffff);
	psn = id < settings.numbered ? packet.psn : packet.psn | psn; /* a number that names data, its sender has given */
	/* Without the socket's hash, which is random: ECMP shall depend on the addresses and ports alone. */
	bpf_skb_store_bytes(skb, __builtin_offsetof(struct roce, psn), &psn, sizeof(psn), BPF_F_INVALIDATE_HASH);
	now = bpf_cpu_to_be64(bpf_ktime_get_ns());
	bpf_skb_store_bytes(skb, __builtin_offsetof(struct roce, shim.tx_ns), &now, sizeof(now), 0);
#if MANY_PATHS
	choose_path(skb, &packet, id, psn, bpf_be64_to_cpu(now));
#endif
	return verdict;
}

static __always_inline void count_data(struct flow_rx *flow, const struct roce *packet)
{
	__u32 psn = bpf_ntohl(packet->psn) & 0xffffff;
	__u32 ahead = (psn - flow->next_psn) & 0xffffff;

	__sync_fetch_and_add(&flow->packets, 1); /* two cores may receive packets of one flow */
	__sync_fetch_and_add(&flow->payload_bytes, bpf_ntohs(packet->shim.payload));
	if (ahead < 0x800000) {
		flow->gaps += ahead;
		flow->next_psn = (psn + 1) & 0xffffff;
	} else {
		flow->reorders++;
		if (flow->gaps)
			flow->gaps--; /* not lost, only reordered */
	}
}

static __always_inline void reply(struct __sk_buff *skb, struct roce *packet, __u8 opcode, __u32 length)
{
	__u32 key = skb->ifindex;
	struct arrivals *here = bpf_map_lookup_elem(&arrivals, &key);

	if (here)
		__sync_fetch_and_add(&here->answered, length);
	begin_answer(packet, opcode, length);
	bpf_skb_change_tail(skb, length, 0);
	bpf_skb_store_bytes(skb, 0, packet, sizeof(*packet), BPF_F_INVALIDATE_HASH); /* other addresses, other path */
}

/* The flow's next CNP, if one is due. */
static __always_inline int notifies(struct flow_rx *flow)
{
	__u64 now = bpf_ktime_get_ns();

	/* signed: another core may have been here with a later time */
	if ((__s64)(now - flow->last_cnp_ns) < (__s64)settings.cnp_interval_ns)
		return 0;
	flow->last_cnp_ns = now;
	__sync_fetch_and_add(&flow->cnps, 1);
	return 1;
}

/* What has been answered becomes the CNP. */
static __always_inline int send_cnp(struct __sk_buff *skb, struct roce *packet)
{
	packet->qp |= bpf_htonl((__u32)BTH_BECN << 24);
	packet->tos = settings.cnp_tos;
	packet->imm = 0;
	packet->shim = (struct shim){};
	reply(skb, packet, BTH_CNP, sizeof(*packet));
	return bpf_redirect(skb->ifindex, 0);
}

/*
 * Of a packet only its headers have come: its sender hears of that at once, and that its path is congested, as a mark would
 * have said. Not inline: others do without it.
 */
static __attribute__((noinline)) int on_trimmed(struct __sk_buff *skb, struct roce *packet, __u32 id)
{
	struct flow_rx *flow = bpf_map_lookup_elem(&flows_rx, &id);
	struct receiver *receiver = bpf_map_lookup_elem(&receivers, &id);
	int notify;

	if (!flow || !receiver)
		return TC_ACT_OK;
	notify = packet->tos & 3 && notifies(flow);
	__sync_fetch_and_add(&flow->packets, 1);
	__sync_fetch_and_add(&receiver->trims, 1);
	if (settings.credits)
		tell_arrival(packet, skb->len, flow->ring, TRIMMED);
	packet->imm = bpf_htonl((__u32)AETH_TRIMMED << 24 | (receiver->messages & 0xffffff));
	packet->shim.frame = packet->shim.payload = 0;
	packet->shim.flags = 0;
	reverse(packet);
	packet->tos = settings.ack_tos;
	reply(skb, packet, BTH_ACK, sizeof(*packet) + ICRC_SIZE);
	if (!notify)
		return bpf_redirect(skb->ifindex, 0);
	bpf_clone_redirect(skb, skb->ifindex, 0);
	return send_cnp(skb, packet);
}

static __always_inline int on_data(struct __sk_buff *skb, struct roce *packet)
{
	struct int_header int_header;
	__u32 id = flow_of(packet), length = sizeof(*packet) + ICRC_SIZE;
	struct flow_rx *flow = bpf_map_lookup_elem(&flows_rx, &id);
	int ce = (packet->tos & 3) == 3, notify = 0, asked = !!(packet->psn & bpf_htonl((__u32)BTH_ACK_REQ << 24));

	if (!flow)
		return TC_ACT_OK;
	if (settings.trim_tos && packet->tos >> 2 == settings.trim_tos >> 2)
		return on_trimmed(skb, packet, id);
	if (settings.credits)
		tell_arrival(packet, skb->len, flow->ring, ce ? SHIM_CE : 0);
	if (__builtin_expect(id < settings.numbered, 0)) {
		struct receiver *receiver = bpf_map_lookup_elem(&receivers, &id);
		enum answer answer = receiver ? receive(receiver, packet, settings.ahead, ce) : NONE;

		__sync_fetch_and_add(&flow->packets, 1);
		asked = answer != NONE;
	} else {
		count_data(flow, packet);
		packet->imm = bpf_htonl((__u32)AETH_ACK << 24);
	}
	if (ce) {
		__sync_fetch_and_add(&flow->ce, 1);
		packet->shim.flags |= id < settings.numbered ? 0 : SHIM_CE; /* or it is said of all that are acknowledged */
		notify = notifies(flow);
	}
	if (!asked && !notify)
		return TC_ACT_SHOT; /* delivered; the payload is not read */

	if (packet->shim.flags & SHIM_INT) {
		if (bpf_skb_load_bytes(skb, INT_OFFSET, &int_header, sizeof(int_header)))
			return TC_ACT_OK;
		length += 4 + 4 * (__u32)int_header.length;
	}
	if (length > skb->len)
		return TC_ACT_OK;
	reverse(packet);
	packet->tos = settings.ack_tos;
	if (asked) {
		reply(skb, packet, BTH_ACK, length);
		if (!notify)
			return bpf_redirect(skb->ifindex, 0);
		bpf_clone_redirect(skb, skb->ifindex, 0); /* the ACK; the packet itself becomes the CNP */
	}
	return send_cnp(skb, packet);
}

/* What somebody else has sent. */
static __always_inline int pass_on(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	struct arrivals *here = bpf_map_lookup_elem(&arrivals, &key);

	if (here && here->detour && skb->protocol == bpf_htons(ETH_P_IP))
		return bpf_redirect(here->detour, 0);
	return TC_ACT_OK;
}

SEC("tc")
int nic_rx(struct __sk_buff *skb)
{
	struct roce packet;

	if (settings.lossless && read_pause(skb))
		return TC_ACT_SHOT; /* it bypassed the port's queue, where packets are counted */
#if CLASSES
	count_left(skb);
#endif
#if POOL
	count_given_back(skb);
#endif
	count_arrival(skb, 1);
	if (!read_own(skb, &packet))
		return pass_on(skb);
	if (is_data(&packet)) {
#if !CLASSES
		if (settings.lossless)
			leave_switch(bpf_ntohs(packet.shim.ingress), skb->len, settings.xon);
#endif
#if POOL
		if (__builtin_expect(settings.slow, 0) && !enter_intake(skb, &packet))
			return TC_ACT_SHOT;
#endif
		return on_data(skb, &packet);
	}
#ifdef BOLT
	if (packet.opcode == BTH_ACK || packet.opcode == BTH_CNP || packet.opcode == BTH_SRC)
#else
	if (packet.opcode == BTH_ACK || packet.opcode == BTH_CNP || (packet.opcode == BTH_CREDIT && settings.credits))
#endif
		return on_feedback(skb, &packet);
	return TC_ACT_OK;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
