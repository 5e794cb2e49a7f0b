/* SPDX-License-Identifier: Apache-2.0
 *
 * Pause frames of switches: what the kernel engine's pause generator does.
 */
#ifndef TESTBED_PAUSE_H
#define TESTBED_PAUSE_H

#include "lines.h"

/* `row`: the port, with classes of the priority that is paused. */
static void send_pause(struct world *w, int64_t row, uint32_t quanta)
{
#if CLASSES
	const struct class_table *classes = w->class_table;
	int64_t port = row % classes->interfaces, priority = row / classes->interfaces - 1;
#else
	int64_t port = row, priority = LOSSLESS;
#endif
	struct line *l = &w->lines[w->out[port]];
	int64_t renewal = w->line_count + (l - w->lines);
	struct packet *p = new_packet();
	struct pfc_frame *frame = (struct pfc_frame *)p->bytes;

	memset(p->bytes, 0, HEADERS);
	memcpy(frame->dst_mac, "\x01\x80\xc2\x00\x00\x01", 6);
	memcpy(frame->src_mac, l->macs + 6, 6);
	frame->ethertype = bpf_htons(ETH_P_PAUSE);
	frame->opcode = bpf_htons(PFC_OPCODE);
	frame->classes = bpf_htons(1 << priority);
	frame->quanta[priority] = bpf_htons(quanta);
	p->length = PFC_FRAME;
	p->data = 0;
	p->order = w->order++;
	catch_up(w, l, w->now);
	append(&l->pauses, p);
	((struct ingress *)w->ingresses)[row].frames++;
	if (CLASSES)
		((struct ingress *)w->ingresses)[port].frames++;
	if (quanta && (!CLASSES || w->place[renewal] < 0)) /* of several priorities, the first that is due */
		set_event(w, renewal, w->now + w->renewed_after * ((512 * l->per_byte / 8) >> TICK_SHIFT));
	else if (!quanta && !CLASSES)
		remove_event(w, renewal);
	go_on(w, l, w->now);
}

static void renew(struct world *w, int64_t row)
{
	if (((struct ingress *)w->ingresses)[row].paused)
		send_pause(w, row, LONGEST_PAUSE);
}

static void renew_pause(struct world *w, struct line *l)
{
#if CLASSES
	const struct class_table *classes = w->class_table;

	for (uint32_t rest = classes->lossless; rest; rest &= rest - 1)
		renew(w, row_of(classes, (uint32_t)l->from, (uint32_t)__builtin_ctz(rest)));
#else
	renew(w, l->from);
#endif
}

#endif
