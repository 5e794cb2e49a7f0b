/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Priority flow control: how a switch accounts for lossless packets, and how a pause is honoured.
 *
 * A packet is accounted to its ingress port from the moment an egress port enqueues it until it has left the link of
 * that port; meanwhile it carries the number of the ingress. Crossing xoff or xon is signalled to user space, which
 * sends the frame (testbed.engines.kernel.pfc.generator): a program cannot make a packet where none has arrived. So is
 * a pause that a port between switches has to honour: the gate of its shaper is a qdisc, which no program can stop.
 */
#ifndef TESTBED_PAUSE_BPF_H
#define TESTBED_PAUSE_BPF_H

#if POOL
#include "classes.bpf.h"
#else
#include "roce.bpf.h"
#endif

/* Both indexed by ifindex. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ingress);
} ingresses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pause);
} pauses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} pause_events SEC(".maps");

static __always_inline void signal_event(__u32 port, struct ingress *ingress, __u16 what, __u16 quanta,
					 __u64 now)
{
	struct pause_event *event = bpf_ringbuf_reserve(&pause_events, sizeof(*event), 0);

	if (!event) {
		__sync_fetch_and_add(&ingress->unsignalled, 1);
		return;
	}
	event->ns = now;
	event->port = port;
	event->what = what;
	event->quanta = quanta;
	bpf_ringbuf_submit(event, 0);
}

static __always_inline void signal_crossing(__u32 port, struct ingress *ingress, __u32 what)
{
	__u64 now = bpf_ktime_get_ns();

	if (what == ABOVE_XOFF) {
		ingress->paused_at = now;
		__sync_fetch_and_add(&ingress->pauses, 1);
	} else {
		ingress->paused_ns += now - ingress->paused_at;
	}
	signal_event(port, ingress, what, what == ABOVE_XOFF ? LONGEST_PAUSE : 0, now);
}

/* A lossless packet that came in at `port` joins a queue of the switch. */
static __always_inline void enter_switch(__u32 port, struct ingress *ingress, __u32 length, __u32 xoff)
{
	__u64 bytes = __sync_fetch_and_add(&ingress->bytes, length) + length;

	if (bytes > ingress->peak)
		ingress->peak = bytes;
	if (bytes > xoff && !ingress->paused && __sync_val_compare_and_swap(&ingress->paused, 0, 1) == 0)
		signal_crossing(port, ingress, ABOVE_XOFF);
}

/* It has left the switch again. */
static __always_inline void leave_switch(__u32 port, __u32 length, __u32 xon)
{
	struct ingress *ingress = bpf_map_lookup_elem(&ingresses, &port);
	__u64 bytes;

	if (!port || !ingress)
		return;
	bytes = __sync_fetch_and_add(&ingress->bytes, -(__u64)length) - length;
	if (bytes <= xon && ingress->paused && __sync_val_compare_and_swap(&ingress->paused, 1, 0) == 1)
		signal_crossing(port, ingress, BELOW_XON);
}

/* What a frame asks for one priority. */
static __always_inline void record_pause(struct pause *pause, __u64 crossed, __u32 quanta)
{
	__u64 now = bpf_ktime_get_ns(), from = crossed + pause->hold_ns, until;
	struct pause_span *last, *next;

	if (from < now) {
		if (now - from > pause->late_ns)
			pause->late_ns = now - from;
		from = now;
	}
	until = from + quanta * pause->quantum_ps / 1000;
	last = &pause->span[pause->spans & 1];
	next = &pause->span[(pause->spans + 1) & 1];
	if (from <= last->until) { /* the end of a pause, or more of it */
		*(volatile __u64 *)&last->until = until > last->from ? until : last->from;
	} else if (quanta) {
		pause->paused_ns += next->until - next->from;
		*(volatile __u64 *)&next->from = ~0ull; /* no reader may see the old beginning with the new end */
		*(volatile __u64 *)&next->until = until;
		*(volatile __u64 *)&next->from = from;
		pause->spans++;
	}
	pause->frames++;
}

#if POOL
/* Each priority of an interface has a row of its own. */
static __always_inline void record_pauses(__u32 interface, const struct pfc_frame *frame)
{
	__u32 first = 0;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);

	if (!classes)
		return;
#pragma unroll
	for (__u32 priority = 0; priority < PRIORITIES; priority++) {
		__u32 row = row_of(classes, interface, priority);
		struct pause *pause = bpf_map_lookup_elem(&pauses, &row);

		if (pause && frame->classes & bpf_htons(1 << priority))
			record_pause(pause, bpf_be64_to_cpu(frame->ns), bpf_ntohs(frame->quanta[priority]));
	}
}
#endif

/*
 * Whether the packet is a MAC control frame; what it asks for is recorded for the interface that it came in at.
 *
 * Packets cross a link in no time here, and so do these frames. What a crossing changes at the peer reaches the
 * switch a round trip of the link later: `hold_ns`, counted from the crossing itself, so that the time which user space
 * took to send the frame is no part of it.
 */
static __always_inline int read_pause(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	struct pause *pause = bpf_map_lookup_elem(&pauses, &key);
	struct pfc_frame frame;

	if (skb->protocol != bpf_htons(ETH_P_PAUSE))
		return 0;
	if (!pause || bpf_skb_load_bytes(skb, 0, &frame, sizeof(frame)) || frame.opcode != bpf_htons(PFC_OPCODE))
		return 1;
#if POOL
	record_pauses(key, &frame);
#else
	if (frame.classes & bpf_htons(1 << LOSSLESS))
		record_pause(pause, bpf_be64_to_cpu(frame.ns), bpf_ntohs(frame.quanta[LOSSLESS]));
#endif
	return 1;
}

/* A pause frame has come in at a port: its gate controller reads the record. */
static __always_inline void signal_received(__u32 port)
{
	struct ingress *ingress = bpf_map_lookup_elem(&ingresses, &port);

	if (ingress)
		signal_event(port, ingress, PAUSE_RECEIVED, 0, bpf_ktime_get_ns());
}

/* For how many ns between two moments an interface was paused. */
static __always_inline __u64 paused_between(const struct pause *pause, __u64 since, __u64 until)
{
	__u64 paused = 0;

#pragma unroll
	for (int i = 0; i < 2; i++) {
		__u64 from = pause->span[i].from > since ? pause->span[i].from : since;
		__u64 to = pause->span[i].until < until ? pause->span[i].until : until;

		if (from < to)
			paused += to - from;
	}
	return paused < until - since ? paused : until - since;
}

#endif
