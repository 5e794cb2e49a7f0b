// SPDX-License-Identifier: Apache-2.0
/*
 * The event loop: lines serialise and delay packets; NICs and switches are the rack's own programs, compiled natively.
 *
 * A line is a FIFO, so that the heap holds one arrival per busy line. Without priority flow control nothing stops a
 * packet once it was sent: when it begins, ends and arrives is known at once. With it packets wait for their line, which
 * may be paused, and a second event says when the line is free. So they do with Bolt, where answers overtake data.
 */
#include "world.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define settings nic_constants
#define LICENSE nic_license
#include "../../dataplane/nic.bpf.c"
#undef settings
#undef LICENSE
#define settings port_constants
#define LICENSE port_license
#include "../../dataplane/port.bpf.c"
#undef settings
#undef LICENSE

#include "ecmp.h"
#include "forwarding.h"
#include "occasions.h"
#include "table.h"

#define FIRST_RECORD 200 /* any place but 0, where nothing was ever taken */
#define LONGEST_PAUSE 0xffff /* quanta */
#define PFC_FRAME 64 /* bytes */
#ifdef BOLT
#define ANSWERS_FIRST 1
#else
#define ANSWERS_FIRST 0
#endif
#define FIRST_ROOM 1024 /* packets at a tap */
#define NO_FLOW UINT32_MAX
#define LARGE 2000 /* lines of a rack: what they and their packets have is more than caches hold */

struct world *world;
uint64_t stamp;
int many_flows;

static struct packet *idle_packets;
static struct packet *current; /* what the programs work on */
static struct ring feedback_ring; /* as the programs know it */

struct packet *new_packet(void)
{
	struct packet *p = idle_packets;

	if (p) {
		idle_packets = p->next;
		__builtin_prefetch(idle_packets, 1);
		return p;
	}
	p = malloc(sizeof(*p));
	if (!p)
		abort();
	return p;
}

static void drop(struct packet *p)
{
	p->next = idle_packets;
	idle_packets = p;
}

static void append(struct fifo *q, struct packet *p)
{
	p->next = NULL;
	if (q->first)
		q->last->next = p;
	else
		q->first = p;
	q->last = p;
}

static struct packet *take(struct fifo *q)
{
	struct packet *p = q->first;

	q->first = p->next;
	return p;
}

/* ---- lines ---- */

static struct __sk_buff view_of(struct packet *p, int64_t ifindex)
{
	uint64_t data = (uint64_t)(uintptr_t)p->bytes;

	current = p;
	return (struct __sk_buff){
		.len = p->length,
		.protocol = (uint32_t)p->bytes[12] | (uint32_t)p->bytes[13] << 8,
		.ifindex = (uint32_t)ifindex,
		.data = data,
		.data_end = data + (p->length < HEADERS ? p->length : HEADERS),
	};
}

/* The packet is the next to come out of the line: fetch what its NIC will touch, and the packet behind it. */
static void expect(const struct line *l, const struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;
	uint32_t flow;

	if (p->next)
		__builtin_prefetch(p->next), __builtin_prefetch(&p->next->bytes[32]);
	if (l->receiver >= 0 || p->length == PFC_FRAME)
		return;
	flow = flow_of(packet);
	if (packet->opcode == BTH_SEND_ONLY_IMM) {
		__builtin_prefetch(flows_rx.value + flow, 1);
	} else {
		__builtin_prefetch(flows_tx.value + flow, 1);
		expect_feedback(flow);
	}
}

static void keep_copy(struct world *w, int64_t tap, const struct packet *p, int64_t time, int64_t arrived)
{
	struct tap *t = &w->taps[tap - 1];
	int64_t head[3] = {time, p->length, arrived};
	int64_t size = t->snap + (int64_t)sizeof(head);
	uint8_t *at;

	if (t->length == t->room) {
		t->room = 2 * t->room + FIRST_ROOM;
		t->bytes = realloc(t->bytes, (size_t)(t->room * size));
		if (!t->bytes)
			abort();
	}
	at = t->bytes + t->length++ * size;
	memcpy(at, head, sizeof(head));
	memcpy(at + sizeof(head), p->bytes, (size_t)t->snap);
}

static void begin(struct world *w, struct line *l, struct packet *p, int64_t start)
{
	if (l->sender < 0) {
		struct __sk_buff skb = view_of(p, l->from);

		stamp = (uint64_t)start;
		nic_tx(&skb);
		stamp = (uint64_t)w->now;
#if MANY_PATHS
		p->hash = skb.hash;
#endif
	}
	l->free = start + ((p->length * l->per_byte + (1 << (TICK_SHIFT - 1))) >> TICK_SHIFT);
	p->arrives = l->free + l->delay;
	if (l->tapped[0])
		keep_copy(w, l->tapped[0], p, start, 0);
	append(&l->on_the_way, p);
	if (l->on_the_way.first == p) {
		set_event(w, l - w->lines, p->arrives, p->order);
		if (many_flows)
			expect(l, p);
	}
}

/* Whether the port that sends into the line is paused now, and until when. */
static int is_paused(const struct world *w, const struct line *l, int64_t *until)
{
	const struct pause *pause = (const struct pause *)w->pauses + l->from;

	for (int i = 0; i < 2; i++) {
		if ((int64_t)pause->span[i].from <= w->now && w->now < (int64_t)pause->span[i].until) {
			*until = (int64_t)pause->span[i].until;
			return 1;
		}
	}
	return 0;
}

/* Where packets wait: what comes next on a line that is free. */
static void go_on(struct world *w, struct line *l)
{
	struct packet *data = l->waiting[1].first, *other = l->waiting[0].first, *next;
	int64_t id = w->line_count + (l - w->lines), until = 0;

	if (l->busy)
		return;
	if (l->pauses.first) {
		struct pfc_frame *frame = (struct pfc_frame *)l->pauses.first->bytes;
		int64_t time = (l->pauses.first->length * l->per_byte) >> TICK_SHIFT;

		frame->ns = bpf_cpu_to_be64((uint64_t)(w->now + time + l->delay)); /* it counts from its arrival */
		next = take(&l->pauses);
		l->leaving = NULL; /* it was in no queue */
	} else {
		if (data && is_paused(w, l, &until))
			data = NULL;
		if (!data && !other) {
			if (until)
				set_event(w, id, until, w->order++);
			return;
		}
		next = l->leaving = take(&l->waiting[!other || (data && !ANSWERS_FIRST && data->order < other->order)]);
	}
	l->busy = 1;
	begin(w, l, next, w->now);
	set_event(w, id, l->free, w->order++);
}

/* The last bit has left: only now is the packet out of its switch. */
static void line_is_free(struct world *w, struct line *l)
{
	struct packet *p = l->leaving;

	if (p && l->sender >= 0) {
		struct roce *packet = (struct roce *)p->bytes;

		((struct arrivals *)w->arrivals)[l->to].bytes += p->length;
		if (w->lossless && p->data) {
			leave_switch(bpf_ntohs(packet->shim.ingress), p->length, nic_constants.xon);
			packet->shim.ingress = 0; /* nic_rx and port_ingress, where it comes out, are too late */
		}
	}
	l->leaving = NULL;
	l->busy = 0;
	go_on(w, l);
}

static void send_on(struct world *w, struct line *l, struct packet *p)
{
	p->order = w->order++;
	if (w->queued) {
		append(&l->waiting[p->data], p);
		go_on(w, l);
	} else {
		begin(w, l, p, w->now > l->free ? w->now : l->free);
	}
}

/* A host's agent or its NIC sends. */
void send_up(struct world *w, int64_t host, struct packet *p)
{
	send_on(w, &w->lines[w->up[host]], p);
}

long send_copy(struct __sk_buff *skb, __u32 ifindex)
{
	struct packet *copy = new_packet();

	memcpy(copy->bytes, current->bytes, HEADERS);
	copy->length = skb->len;
	copy->data = 0;
	send_on(world, &world->lines[world->out[ifindex]], copy);
	return 0;
}

/* ---- priority flow control: what the kernel engine's pause generator does ---- */

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

static struct pause_event pause_slot; /* that a program is writing */

void *records_reserve(struct records *to, uint64_t size)
{
	uint64_t at;

	if (!to)
		return &pause_slot;
	if (*to->consumer == *to->producer) /* nothing waits: stay where the caches are */
		*to->consumer = *to->producer = FIRST_RECORD;
	at = *to->producer;
	if (at + 8 + size - *to->consumer > (uint64_t)to->size)
		return NULL;
	*(uint32_t *)(to->data + (at & (uint64_t)(to->size - 1))) = (uint32_t)size;
	return to->data + (at & (uint64_t)(to->size - 1)) + 8;
}

void records_submit(void *record)
{
	struct records *to = world->feedback;

	if (record == &pause_slot) {
		if (pause_slot.what == PAUSE_RECEIVED)
			go_on(world, &world->lines[world->out[pause_slot.port]]);
		else
			send_pause(world, pause_slot.port, pause_slot.what == ABOVE_XOFF ? LONGEST_PAUSE : 0);
		return;
	}
	*to->producer += 8 + sizeof(struct record);
	to->submitted++;
}

/* ---- samples ---- */

/* All that are due before the moment `until`. */
void take_samples(struct world *w, int64_t until)
{
	for (; w->sample_at[w->samples] < until; w->samples++) {
		for (int64_t i = 0; i < w->sampled_count; i++) {
			const struct sampled *s = &w->sampled[i];
			uint8_t *to = s->to + w->samples * s->count * s->width;

			for (int64_t k = 0; k < s->count; k++) {
				const uint8_t *from = s->from + s->rows[k] * s->stride;

				if (s->width == 8) /* most are, and a copy of known size is no call */
					memcpy(to + k * 8, from, 8);
				else
					memcpy(to + k * s->width, from, (size_t)s->width);
			}
		}
	}
}

static void set_time(struct world *w, int64_t time)
{
	if (w->sample_at[w->samples] < time) /* what happened at its tick belongs to a sample */
		take_samples(w, time);
	w->now = time;
	stamp = (uint64_t)time;
}

/* ---- nodes ---- */

static uint32_t carried_flow(const struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;

	return p->length != PFC_FRAME && packet->opcode == BTH_SEND_ONLY_IMM ? flow_of(packet) : NO_FLOW;
}

static void at_host(struct world *w, struct line *l, struct packet *p)
{
	struct __sk_buff skb = view_of(p, l->to);
	uint32_t data_of = w->tasks ? carried_flow(p) : NO_FLOW; /* before the NIC makes an acknowledgement of it */
	int verdict = nic_rx(&skb);

	if (data_of != NO_FLOW)
		data_received(data_of);
	if (skb.protocol == bpf_htons(ETH_P_PAUSE)) {
		int64_t host = -1 - l->receiver;

		w->resumed[w->resumed_count++] = w->sender[host];
		go_on(w, &w->lines[w->up[host]]);
	}
	if (verdict != TC_ACT_REDIRECT) {
		drop(p);
		return;
	}
	p->length = skb.len;
	p->data = 0;
	send_up(w, -1 - l->receiver, p);
}

static struct line *next_line(struct world *w, int64_t here, const struct roce *packet, const struct __sk_buff *skb)
{
	int64_t host = (bpf_ntohl(packet->dst_ip) & 0xffff) - 1, edge, *hops;

	if (host < 0 || host >= w->host_count)
		return NULL;
	edge = w->edge[host];
	if (edge == here)
		return &w->lines[w->down[host]];
	hops = w->hops + w->hops_at[here * w->switch_count + edge];
	if (!hops[0])
		return NULL;
	return &w->lines[hops[1 + (hops[0] > 1 ? next_hop(w, here, hops, packet, skb) : 0)]];
}

/* As a router does: one hop less to live, and the addresses of the next link. */
static int route(struct roce *packet, const struct line *l)
{
	uint32_t sum = (uint32_t)bpf_ntohs(packet->ip_csum) + 0x100;

	if (packet->ttl < 2)
		return 0;
	packet->ttl--;
	packet->ip_csum = bpf_htons((uint16_t)(sum + (sum >> 16)));
	memcpy(packet->dst_mac, l->macs, 12);
	return 1;
}

/* A switch takes a packet that came in at interface `from` on, or drops it. */
static void forward(struct world *w, int64_t here, int64_t from, struct packet *p)
{
	struct roce *packet = (struct roce *)p->bytes;
	struct __sk_buff skb = view_of(p, from);
	struct line *out;

#if MANY_PATHS
	skb.hash = p->hash;
#endif
	out = next_line(w, here, packet, &skb);
	if (!out || (w->routed && !route(packet, out))) {
		w->unroutable++;
		drop(p);
		return;
	}
	skb.ifindex = (uint32_t)out->from;
	skb.ingress_ifindex = (uint32_t)from;
	if (port_egress(&skb) == TC_ACT_SHOT) {
		drop(p);
		return;
	}
	p->data = skb.priority == LOSSLESS_CLASS;
	send_on(w, out, p);
}

static void at_switch(struct world *w, struct line *l, struct packet *p)
{
	struct __sk_buff skb = view_of(p, l->to);

#if MANY_PATHS
	skb.hash = p->hash;
#endif
	if (l->sender >= 0 && port_ingress(&skb) == TC_ACT_SHOT) {
		drop(p);
		return;
	}
#if MANY_PATHS
	p->hash = skb.hash;
#endif
	if (skb.protocol == bpf_htons(ETH_P_PAUSE)) { /* of a host: none sends any */
		drop(p);
		return;
	}
	forward(w, l->receiver, l->to, p);
}

#ifdef BOLT
/* A copy of what a port is about to send comes in there, where an SRC is made of it. */
long come_in(struct __sk_buff *skb, __u32 ifindex)
{
	struct packet *original = current, *copy = new_packet();
	struct __sk_buff back;

	memcpy(copy->bytes, original->bytes, HEADERS);
	copy->length = skb->len;
	back = view_of(copy, ifindex);
	back.mark = skb->mark;
	if (port_src(&back) == TC_ACT_OK) {
		copy->length = back.len;
		forward(world, world->lines[world->out[ifindex]].sender, ifindex, copy);
	} else {
		drop(copy);
	}
	current = original;
	return 0;
}
#else
long come_in(struct __sk_buff *skb, __u32 ifindex)
{
	(void)skb, (void)ifindex;
	abort(); /* no program asks for it */
}
#endif

static void arrives(struct world *w, struct line *l)
{
	struct packet *p = take(&l->on_the_way);

	if (l->on_the_way.first) {
		set_event(w, l - w->lines, l->on_the_way.first->arrives, l->on_the_way.first->order);
		if (many_flows)
			expect(l, l->on_the_way.first);
	}
	if (l->tapped[1])
		keep_copy(w, l->tapped[1], p, w->now, 1);
	if (w->queued && l->sender >= 0 && p->length != PFC_FRAME)
		((struct arrivals *)w->arrivals)[l->to].bytes -= p->length; /* counted when it left the port */
	if (l->receiver < 0)
		at_host(w, l, p);
	else
		at_switch(w, l, p);
}

static void renew_pause(struct world *w, struct line *l)
{
	if (((struct ingress *)w->ingresses)[l->from].paused)
		send_pause(w, l->from, LONGEST_PAUSE);
}

/*
 * Of a large rack nothing stays in the caches: fetch what comes next. The next occasions are near the top of the heap, and
 * rise: first the line is fetched, then its first packet, then the packet behind that.
 */
static void look_ahead(const struct world *w)
{
	int64_t count = w->event_count < 15 ? w->event_count : 15;

	for (int64_t at = 1; at < count; at++) {
		const struct line *l = &w->lines[w->events[at].id];
		const struct packet *p;

		if (w->events[at].id >= w->line_count)
			continue;
		if (at >= 7) {
			__builtin_prefetch(&l->on_the_way), __builtin_prefetch(l);
			continue;
		}
		p = l->on_the_way.first;
		__builtin_prefetch(p), __builtin_prefetch(&p->bytes[32]);
		if (at < 3 && p && p->next)
			__builtin_prefetch(p->next);
	}
}

static void happen(struct world *w, const struct occasion *e)
{
	int64_t id = e->id;

	set_time(w, e->time);
	w->events_done++;
	w->place[id] = -1;
	top_is_free = 1;
	if (w->line_count > LARGE)
		look_ahead(w);
	if (id < w->line_count) {
		arrives(w, &w->lines[id]);
	} else if (id < 2 * w->line_count) {
		line_is_free(w, &w->lines[id - w->line_count]);
	} else {
		renew_pause(w, &w->lines[id - 2 * w->line_count]);
	}
	if (top_is_free && --w->event_count)
		settle(w, 0, w->events[w->event_count]);
	top_is_free = 0;
}

/* Until nothing is on its way any more. */
void drain(struct world *w)
{
	while (w->event_count) {
		happen(w, &w->events[0]);
		w->resumed_count = 0; /* no agent is there to look */
	}
}

/* Everything until then, that tick included; or until an agent must know of something: feedback, a pause, flows that
 * others have released. Whether so. */
int64_t run_until_fed(struct world *w, int64_t until)
{
	while (w->event_count && w->events[0].time <= until) {
		happen(w, &w->events[0]);
		if (w->feedback->submitted || w->resumed_count || w->released)
			return 1;
	}
	if (w->now < until)
		set_time(w, until);
	return 0;
}

/* As libbpf fills what programs read as constants, before they run. */
static void fill(const volatile void *constants, const void *value, int64_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)constants & ~(page - 1);

	mprotect((void *)from, (uintptr_t)constants + (uintptr_t)size - from, PROT_READ | PROT_WRITE);
	for (int64_t i = 0; i < size; i++)
		((volatile uint8_t *)constants)[i] = ((const uint8_t *)value)[i];
}

/* From now on the programs work in this world. */
void enter(struct world *w, const void *nic, int64_t nic_size, const void *port, int64_t port_size)
{
	world = w;
	many_flows = 0; /* until its agent says so */
	stamp = (uint64_t)w->now;
	fill(&nic_constants, nic, nic_size);
	fill(&port_constants, port, port_size);
	arrivals.value = w->arrivals;
	flows_tx.value = w->flows_tx;
	flows_rx.value = w->flows_rx;
	ingresses.value = w->ingresses;
	pauses.value = w->pauses;
	port_config.value = w->port_config;
	port_counters.value = w->port_counters;
	port_red.value = w->port_red;
	port_queue.value = w->port_queue;
#if MANY_PATHS
	flowlets.value = w->flowlets;
#endif
#ifdef BOLT
	port_bolt.value = w->port_bolt;
#endif
	feedback_ring.max_entries = (void *)w->feedback;
	rings.value = &feedback_ring;
	table = w->flow_table;
}
