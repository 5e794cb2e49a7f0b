/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The memory of a switch, that all of its ports share: what a packet may take of it, and what its leaving gives back.
 *
 * A packet is accounted twice, to the queue where it waits and to the priority group with which it came in; either may
 * refuse it. What exceeds the reserve of a queue or group comes out of the pool, while it has less of that than a static
 * limit, or than alpha x what is free there (Choudhury and Hahne, IEEE/ACM ToN 1998). A lossless group goes on into its
 * headroom, and its senders are paused; headroom is given back first.
 *
 * Meanwhile the packet carries the number of the port at which it came in.
 */
#ifndef TESTBED_POOL_BPF_H
#define TESTBED_POOL_BPF_H

#include "pause.bpf.h"

/* What the ports of a switch share. As in wire.py. */
struct pool {
	struct bpf_spin_lock lock;
	__u32 reserved;
	__u64 size;
	__u64 headroom; /* of all lossless groups */
	/* state: what groups have of the pool, what queues have of it, what groups have of the headroom, most of `out` */
	__u64 in;
	__u64 out;
	__u64 above;
	__u64 peak;
};

/* By row of a queue. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct share);
} shares SEC(".maps");

/* By row of the group (row_of) of the interface where packets come in. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct group);
} groups SEC(".maps");

/* By number of the switch. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pool);
} pools SEC(".maps");

enum place { NOWHERE, SHARED, HEADROOM };

static __always_inline __u64 less(__u64 from, __u64 what)
{
	return from > what ? from - what : 0;
}

/* Bytes of the pool that may be taken, of which so many are free; only by those who have less. */
static __always_inline __u64 threshold(const struct share *share, __u64 free)
{
	__u64 dynamic = free * share->alpha >> ALPHA_SHIFT;

	return share->alpha && dynamic < share->limit ? dynamic : share->limit;
}

/* As a buffer of its own: how long the queue may be with a packet of this length. */
static __always_inline __u32 room_of_queue(const struct pool *pool, const struct share *share, __u32 length)
{
	__u64 free = less(pool->size + pool->above, pool->out), own = less(share->bytes, share->reserved), most = share->limit;

	if (most == CLOSED)
		return 0;
	if (share->alpha && threshold(share, free) + length - 1 < most) /* who has less is admitted */
		most = threshold(share, free) + length - 1;
	if (most > own + free && most != UNLIMITED) /* packets without any limit are bounded where they come in */
		most = own + free;
	most += share->reserved;
	return most > 0xffffffff ? 0xffffffff : most;
}

static __always_inline enum place place_in_group(const struct pool *pool, const struct group *group, __u32 length)
{
	__u64 free = less(pool->size, pool->in), shared = group->bytes - group->above;
	__u64 own = less(shared, group->share.reserved), more = less(shared + length, group->share.reserved) - own;

	if (!more || (more <= free && own + more <= group->share.limit &&
		      (!group->share.alpha || own < threshold(&group->share, free))))
		return SHARED;
	if (group->headroom && group->above + length <= group->headroom && pool->above + length <= pool->headroom)
		return HEADROOM;
	return NOWHERE;
}

static __always_inline void enter_pool(struct pool *pool, struct share *share, struct group *group, __u32 length,
				       enum place place)
{
	__u64 shared = group->bytes - group->above, queue = share->bytes;

	if (place == HEADROOM) {
		group->above += length;
		pool->above += length;
	} else {
		pool->in += less(shared + length, group->share.reserved) - less(shared, group->share.reserved);
	}
	group->bytes += length;
	share->bytes += length;
	pool->out += less(queue + length, share->reserved) - less(queue, share->reserved);
	if (group->bytes > group->peak)
		group->peak = group->bytes;
	if (group->above > group->peak_above)
		group->peak_above = group->above;
	if (pool->out > pool->peak)
		pool->peak = pool->out;
}

static __always_inline void leave_pool(struct pool *pool, struct share *share, struct group *group, __u32 length)
{
	__u64 above = group->above < length ? group->above : length, shared = group->bytes - group->above, queue = share->bytes;

	group->above -= above;
	pool->above -= above;
	pool->in -= less(shared, group->share.reserved) - less(shared - (length - above), group->share.reserved);
	group->bytes -= length;
	share->bytes -= length;
	pool->out -= less(queue, share->reserved) - less(queue - length, share->reserved);
}

/* Down to which a paused group must fall. */
static __always_inline __u64 xon_of(const struct pool *pool, const struct group *group)
{
	__u64 most = threshold(&group->share, less(pool->size, pool->in)) + group->share.reserved;
	__u64 below = less(most, group->xon_offset);

	return below > group->xon ? below : group->xon;
}

/* Where a packet is accounted. */
struct entry {
	struct pool *pool;
	struct share *share;
	struct group *group;
	struct ingress *ingress;
	__u32 number, row; /* of the group */
	enum place place;
};

/*
 * Of a packet that came in at `interface` and waits in the queue of that row; 0 if it is accounted nowhere. Nothing is written
 * then: the verifier would follow each way of being accounted nowhere to the program's end.
 */
static __always_inline int find_entry(struct entry *e, const struct class_table *classes, __u8 tos, __u32 interface,
				      __u32 queue_row)
{
	__u32 number = classes->group_of[tos >> 2], row = row_of(classes, interface, number);
	struct share *share = bpf_map_lookup_elem(&shares, &queue_row);
	struct group *group = bpf_map_lookup_elem(&groups, &row);
	struct ingress *ingress = bpf_map_lookup_elem(&ingresses, &row);
	__u32 of_switch = share ? share->pool : 0;
	struct pool *pool = bpf_map_lookup_elem(&pools, &of_switch);

	if (!interface || !share || !group || !ingress || !pool)
		return 0;
	*e = (struct entry){pool, share, group, ingress, number, row, SHARED};
	return 1;
}

/* Whether this packet, about to join the queue of that row, is accounted: of RoCE alone is known where it came in. */
static __always_inline int is_accounted(struct entry *e, const struct class_table *classes, struct __sk_buff *skb,
					const struct roce *data, __u32 row)
{
	struct roce packet;

	if (!classes->shared || (!data && !read_roce(skb, &packet, bpf_htons(ROCE_PORT))))
		return 0;
	return find_entry(e, classes, data ? data->tos : packet.tos, skb->ingress_ifindex, row);
}

/* What there is for it in its queue and in its group, before anything of the port is locked. */
static __always_inline void look_for_room(struct entry *e, __u32 length, __u32 *buffer)
{
	struct pool *pool = e->pool;

	bpf_spin_lock(&pool->lock);
	*buffer = room_of_queue(pool, e->share, length);
	e->place = place_in_group(pool, e->group, length);
	bpf_spin_unlock(&pool->lock);
}

/* It joins its queue, or is dropped; a group that is beyond its threshold pauses its senders. */
static __always_inline void enter_memory(struct entry *e, const struct class_table *classes, __u32 length, int dropped)
{
	struct pool *pool = e->pool;
	struct ingress *ingress = e->ingress;
	int pauses;

	bpf_spin_lock(&pool->lock);
	if (!dropped)
		enter_pool(pool, e->share, e->group, length, e->place);
	else if (e->place == NOWHERE)
		e->group->dropped_packets++;
	ingress->bytes = e->group->bytes;
	if (ingress->bytes > ingress->peak)
		ingress->peak = ingress->bytes;
	pauses = e->place != SHARED && ingress->bytes && classes->lossless >> e->number & 1 && !ingress->paused;
	ingress->paused |= pauses;
	bpf_spin_unlock(&pool->lock);
	if (pauses)
		signal_crossing(e->row, ingress, ABOVE_XOFF);
}

/* So that its end of the link can give back what it has taken. */
static __always_inline void write_ingress(struct __sk_buff *skb)
{
	__be16 from = bpf_htons(skb->ingress_ifindex);

	bpf_skb_store_bytes(skb, __builtin_offsetof(struct roce, shim.ingress), &from, sizeof(from), 0);
}

/* A packet has left the switch, out of the queue of that row. */
static __always_inline void leave_memory(const struct class_table *classes, const struct roce *packet, __u32 length,
					 __u32 queue_row)
{
	struct entry e = {};
	struct pool *pool;
	int resumes;

	if (!find_entry(&e, classes, packet->tos, bpf_ntohs(packet->shim.ingress), queue_row))
		return;
	pool = e.pool;
	bpf_spin_lock(&pool->lock);
	leave_pool(pool, e.share, e.group, length);
	e.ingress->bytes = e.group->bytes;
	/* headroom must be empty: it has to hold all that the next pause lets through, too */
	resumes = e.ingress->paused && !e.group->above && e.group->bytes <= xon_of(pool, e.group);
	if (resumes)
		e.ingress->paused = 0;
	bpf_spin_unlock(&pool->lock);
	if (resumes)
		signal_crossing(e.row, e.ingress, BELOW_XON);
}

/*
 * The same where it comes out of its link, whose ends have neighbouring numbers. In virtual time lines tell. Whether its queue
 * is closed meanwhile: then the watchdog has let it go to be dropped.
 */
static __always_inline int count_given_back(struct __sk_buff *skb)
{
#ifndef VIRTUAL
	__u32 first = 0, row;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);
	struct share *share;
	struct roce packet;

	if (!classes || !classes->shared || !read_roce(skb, &packet, bpf_htons(ROCE_PORT)))
		return 0;
	row = row_of(classes, skb->ifindex ^ 1, classes->queue_of[packet.tos >> 2]);
	leave_memory(classes, &packet, skb->len, row);
	share = bpf_map_lookup_elem(&shares, &row);
	return share && share->limit == CLOSED;
#else
	(void)skb;
	return 0;
#endif
}

#endif
