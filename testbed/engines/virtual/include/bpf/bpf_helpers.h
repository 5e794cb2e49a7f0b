/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for libbpf's <bpf/bpf_helpers.h>: maps are plain memory, which a world points them at, and one thread runs
 * the programs of a node, so that nothing need be locked.
 */
#ifndef TESTBED_BPF_HELPERS_H
#define TESTBED_BPF_HELPERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SEC(name)
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

/* A map is a struct of pointers: `value` to its elements, and `max_entries` to what else there is to know. */
#define __uint(name, number) int(*name)[number]
#define __type(name, of) of *name
#define __array(name, of) of *value

struct flow_key;
struct flow_seen;
struct records;

extern __thread uint64_t stamp; /* what time it is for a program: ticks */

struct flow_seen *flow_table_lookup(const struct flow_key *key);
long flow_table_insert(const struct flow_key *key, const struct flow_seen *seen);
void *records_reserve(struct records *to, uint64_t size);
void records_submit(void *record);
long send_copy(struct __sk_buff *skb, __u32 ifindex);
long come_in(struct __sk_buff *skb, __u32 ifindex);

/* Programs ask whether an element of an array is there, for the verifier in the kernel; here the answer is known. */
#define element_of(map, key)                                                                                           \
	({                                                                                                             \
		__typeof__((map)->value) element_ = (map)->value + *(const __u32 *)(key);                              \
		if (!element_)                                                                                         \
			__builtin_unreachable();                                                                       \
		element_;                                                                                              \
	})
#define bpf_map_lookup_elem(map, key)                                                                                  \
	_Generic((key),                                                                                                \
		struct flow_key *: flow_table_lookup((const void *)(key)),                                             \
		__u32 *: element_of(map, key),                                                                         \
		const __u32 *: element_of(map, key))
#define bpf_map_update_elem(map, key, seen, flags) flow_table_insert(key, seen)

#define bpf_ktime_get_ns() stamp
#define bpf_spin_lock(lock) ((void)0)
#define bpf_spin_unlock(lock) ((void)0)
#define __sync_fetch_and_add(to, number)                                                                               \
	({                                                                                                             \
		__typeof__(*(to)) before_ = *(to);                                                                     \
		*(to) = before_ + (number);                                                                            \
		before_;                                                                                               \
	})
#define __sync_val_compare_and_swap(at, old, new)                                                                      \
	({                                                                                                             \
		__typeof__(*(at)) before_ = *(at);                                                                     \
		if (before_ == (old))                                                                                  \
			*(at) = (new);                                                                                 \
		before_;                                                                                               \
	})

/* All rings are `struct records`, behind their map's second pointer. */
#define bpf_ringbuf_reserve(ring, size, flags) records_reserve(((struct records **)(ring))[1], size)
#define bpf_ringbuf_submit(record, flags) records_submit(record)

static __always_inline long bpf_skb_load_bytes(const struct __sk_buff *skb, __u32 offset, void *to, __u32 length)
{
	if (skb->data + offset + length > skb->data_end)
		return -1;
	memcpy(to, (const char *)(uintptr_t)skb->data + offset, length);
	return 0;
}

static __always_inline long bpf_skb_store_bytes(struct __sk_buff *skb, __u32 offset, const void *from, __u32 length,
						__u64 flags)
{
	(void)flags;
	if (skb->data + offset + length > skb->data_end)
		return -1;
	memcpy((char *)(uintptr_t)skb->data + offset, from, length);
	return 0;
}

static __always_inline long bpf_skb_pull_data(struct __sk_buff *skb, __u32 length)
{
	(void)skb, (void)length; /* headers are always in place */
	return 0;
}

static __always_inline long bpf_skb_change_tail(struct __sk_buff *skb, __u32 length, __u64 flags)
{
	(void)flags;
	if (length > skb->len)
		skb->data_end += length - skb->len; /* of a packet without payload: its headers are kept */
	skb->len = length;
	return 0;
}

#if MANY_PATHS
#define bpf_get_hash_recalc(skb) ((skb)->hash)
#define bpf_set_hash(skb, number) ((skb)->hash = (number))
#else
#define bpf_get_hash_recalc(skb) 0
#define bpf_set_hash(skb, number) ((void)(skb), (void)(number))
#endif
static __always_inline long bpf_skb_change_type(struct __sk_buff *skb, __u32 type)
{
	(void)skb, (void)type; /* whose a packet is, its addresses say */
	return 0;
}

#define bpf_redirect(interface, flags) TC_ACT_REDIRECT /* always out of the interface that it came in at */
#define bpf_clone_redirect(skb, interface, flags)                                                                      \
	((flags) & BPF_F_INGRESS ? come_in(skb, interface) : send_copy(skb, interface))

#endif
