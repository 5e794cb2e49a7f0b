/* SPDX-License-Identifier: Apache-2.0
 *
 * The monitor's flow table (monitor.bpf.h): a hash map with room for so many flows, by linear probing.
 */
#ifndef TESTBED_TABLE_H
#define TESTBED_TABLE_H

#include "../../dataplane/maps.h"

/* Mirrored in structs.py. */
struct table {
	struct flow_key *keys;
	struct flow_seen *seen;
	int64_t *slots; /* twice as many as flows: a row, or -1 */
	int64_t size, used; /* rows */
};

static struct table *table;

static uint64_t slot_of(const struct flow_key *key)
{
	uint64_t mixed = ((uint64_t)key->port << 32 | key->qp) * 0x9e3779b97f4a7c15ull;

	mixed ^= ((uint64_t)key->src << 32 | key->dst) * 0xc2b2ae3d27d4eb4full;
	return (mixed ^ mixed >> 29) % (uint64_t)(2 * table->size);
}

/* The slot of a flow, or the free one where it belongs. */
static int64_t *find(const struct flow_key *key)
{
	uint64_t at = slot_of(key);

	while (table->slots[at] >= 0 && memcmp(&table->keys[table->slots[at]], key, sizeof(*key)))
		at = (at + 1) % (uint64_t)(2 * table->size);
	return &table->slots[at];
}

struct flow_seen *flow_table_lookup(const struct flow_key *key)
{
	int64_t row = *find(key);

	return row < 0 ? NULL : &table->seen[row];
}

long flow_table_insert(const struct flow_key *key, const struct flow_seen *seen)
{
	if (table->used == table->size)
		return -1;
	*find(key) = table->used;
	table->keys[table->used] = *key;
	table->seen[table->used++] = *seen;
	return 0;
}

/* Python has removed rows: find the others again. */
void flow_table_rebuild(struct table *of)
{
	table = of;
	memset(table->slots, 0xff, (size_t)(2 * table->size) * sizeof(*table->slots));
	for (int64_t row = 0; row < table->used; row++)
		*find(&table->keys[row]) = row;
}

#endif
