/* SPDX-License-Identifier: Apache-2.0
 *
 * Pause frames of switches: what the kernel engine's pause generator does.
 */
#ifndef TESTBED_PAUSE_H
#define TESTBED_PAUSE_H

#include "lines.h"

#define LONGEST_PAUSE 0xffff /* quanta */

static void send_pause(struct world *w, int64_t port, uint32_t quanta)
{
	struct line *l = &w->lines[w->out[port]];
	struct packet *p = new_packet();
	struct pfc_frame *frame = (struct pfc_frame *)p->bytes;

	memset(p->bytes, 0, HEADERS);
	memcpy(frame->dst_mac, "\x01\x80\xc2\x00\x00\x01", 6);
	memcpy(frame->src_mac, l->macs + 6, 6);
	frame->ethertype = bpf_htons(ETH_P_PAUSE);
	frame->opcode = bpf_htons(PFC_OPCODE);
	frame->classes = bpf_htons(1 << LOSSLESS);
	frame->quanta[LOSSLESS] = bpf_htons(quanta);
	p->length = PFC_FRAME;
	p->data = 0;
	p->order = w->order++;
	append(&l->pauses, p);
	((struct ingress *)w->ingresses)[port].frames++;
	if (quanta)
		set_event(w, 2 * w->line_count + (l - w->lines), w->now + w->renewed_after * ((512 * l->per_byte / 8) >> TICK_SHIFT),
			  w->order++);
	else
		remove_event(w, 2 * w->line_count + (l - w->lines));
	go_on(w, l);
}

static void renew_pause(struct world *w, struct line *l)
{
	if (((struct ingress *)w->ingresses)[l->from].paused)
		send_pause(w, l->from, LONGEST_PAUSE);
}

#endif
