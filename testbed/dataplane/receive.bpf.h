/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * A receiver whose sender sends again what was lost, under the same number. It delivers in order, each number once.
 *
 * Go-back-N: what comes after a missing packet is discarded, and one NAK per gap asks for it. Selective repeat: what comes
 * after it is kept, as far as the bitmap reaches, and each of those is answered by a NAK that names it as well.
 */
#ifndef TESTBED_RECEIVE_BPF_H
#define TESTBED_RECEIVE_BPF_H

#include "roce.bpf.h"

#define WORD 64
#define WORDS (MOST_AHEAD / WORD)

/* Per flow; recovery.py mirrors it. Two cores may receive packets of one flow: hence the lock. */
struct receiver {
	struct bpf_spin_lock lock;
	__u32 expected; /* PSN */
	__u32 asked;	/* whether a NAK has asked for it */
	__u32 marks;	/* CE since they were last told: with what acknowledges something new */
	__u32 messages; /* that are complete, modulo 2^24: the MSN */
	__u32 trims; /* packets of which only the headers have come */
	__u64 delivered; /* packets, and ... */
	__u64 payload_bytes;
	__u64 duplicates; /* came again */
	__u64 discarded;  /* came after a missing one, and were not kept */
	__u64 acks;
	__u64 naks;
	__u64 overtaken; /* asked for, and yet not lost: others had only come before them */
	__u64 kept[WORDS]; /* bit PSN modulo MOST_AHEAD: of what is ahead of `expected` */
	__u64 ends[WORDS]; /* which of those end a message */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct receiver);
} receivers SEC(".maps");

enum answer { NONE, ACK, NAK };

static __always_inline int ends_message(const struct roce *packet)
{
	__u8 send = packet->opcode % BTH_WRITE;

	return send == BTH_SEND_LAST_IMM || send == BTH_SEND_ONLY_IMM;
}

/* Everything up to the next missing packet has come. */
static __always_inline void advance(struct receiver *r)
{
	for (__u32 i = 0; i < MOST_AHEAD; i++) {
		__u32 word = r->expected / WORD % WORDS;
		__u64 bit = 1ull << (r->expected % WORD);

		if (!(r->kept[word] & bit))
			break;
		r->kept[word] &= ~bit;
		r->messages += !!(r->ends[word] & bit);
		r->expected = (r->expected + 1) & 0xffffff;
	}
}

/* A packet behind a missing one. */
static __always_inline enum answer out_of_order(struct receiver *r, const struct roce *packet, __u32 ahead, __u32 room)
{
	__u32 psn = bpf_ntohl(packet->psn) & 0xffffff, word = psn / WORD % WORDS;
	__u64 bit = 1ull << (psn % WORD);

	if (ahead >= room) {
		r->discarded++;
		if (r->asked)
			return NONE;
	} else if (r->kept[word] & bit) {
		r->duplicates++;
	} else {
		r->kept[word] |= bit;
		r->ends[word] = ends_message(packet) ? r->ends[word] | bit : r->ends[word] & ~bit;
		r->delivered++;
		r->payload_bytes += bpf_ntohs(packet->shim.payload);
	}
	r->asked = 1;
	r->naks++;
	return NAK;
}

/*
 * A packet has come. `room`: 0 for go-back-N. Writes what its answer says into the packet. Not inline: recovery per packet does
 * without it.
 */
static __attribute__((noinline)) enum answer receive(struct receiver *r, struct roce *packet, __u32 room, int ce)
{
	__u32 psn = bpf_ntohl(packet->psn) & 0xffffff, ahead, marks = 0, last, messages;
	int asks = !!(packet->psn & bpf_htonl((__u32)BTH_ACK_REQ << 24));
	enum answer answer = asks ? ACK : NONE;

	bpf_spin_lock(&r->lock);
	r->marks += ce;
	ahead = (psn - r->expected) & 0xffffff;
	if (!ahead) {
		r->overtaken += r->asked && !(packet->shim.flags & SHIM_AGAIN);
		r->asked = 0;
		r->delivered++;
		r->payload_bytes += bpf_ntohs(packet->shim.payload);
		r->messages += ends_message(packet);
		r->expected = (r->expected + 1) & 0xffffff;
		if (room)
			advance(r);
	} else if (ahead < 0x800000) {
		answer = out_of_order(r, packet, ahead, room);
	} else {
		r->duplicates++;
	}
	if (answer != NONE && (!ahead || ahead < room)) {
		marks = r->marks < 0xffff ? r->marks : 0xffff;
		r->marks -= marks;
	}
	r->acks += answer == ACK;
	messages = r->messages & 0xffffff;
	last = answer == NAK ? r->expected : (r->expected - 1) & 0xffffff;
	bpf_spin_unlock(&r->lock);
	packet->psn = bpf_htonl(last);
	packet->imm = bpf_htonl((__u32)(answer == NAK ? AETH_NAK : AETH_ACK) << 24 | messages);
	packet->shim.frame = bpf_htons(marks);
	packet->shim.payload = bpf_htons(answer == NAK && ahead < room ? ahead : 0);
	packet->shim.flags &= ~(SHIM_AGAIN | SHIM_CE);
	if (marks)
		packet->shim.flags |= SHIM_CE;
	return answer;
}

#endif
