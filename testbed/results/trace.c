// SPDX-License-Identifier: Apache-2.0
/* From the calls of a trace, whose words lie column by column in each, to columns of all their rows: trace.py. */
#include <stdint.h>
#include <string.h>

enum call { START, FEEDBACK, TIMEOUT, SENT, TIMER, SRC };

#define FIRST_NARROW 7 /* of what feedback tells: as the columns of trace.py are ordered */
#define FIRST_WIDE 4

/* All mirrored in trace.py. */
struct header {
	double time;
	int64_t start, kind, rows, hops; /* the first word; hops: -1 without INT */
};

/* Columns of `size` entries each, one column behind the other. Bits say whether a row has feedback, sent bytes, a hop. */
struct rows {
	int8_t *kind;
	int32_t *narrow; /* call, flow, seven of what feedback tells; the node of each hop */
	int64_t *wide; /* time, rate, window, timer, the other four, sent bytes; and time, bytes, queue, rate, by hops */
	uint8_t *valid;
	int64_t size, hops;
};

static void set_bit(const struct rows *to, int64_t column, int64_t row)
{
	to->valid[(column * to->size + row) >> 3] |= (uint8_t)(1 << (row & 7));
}

/* Row `row` of a call becomes row `at`. */
static void copy_row(const struct rows *to, const struct header *call, int64_t number, const int64_t *words, int64_t row,
		     int64_t at)
{
	int64_t step = call->rows, size = to->size;
	int32_t *narrow = to->narrow + at;
	int64_t *wide = to->wide + at;

	to->kind[at] = (int8_t)call->kind;
	memcpy(wide, &call->time, sizeof(*wide));
	for (int64_t i = 1; i < 4; i++, words += step)
		wide[i * size] = words[row];
	narrow[0] = (int32_t)number;
	narrow[size] = (int32_t)words[row];
	words += step;
	if (call->kind == SENT) {
		wide[8 * size] = words[row];
		set_bit(to, 1, at);
	}
	if (call->kind != FEEDBACK && call->kind != TIMEOUT && call->kind != SRC)
		return;
	set_bit(to, 0, at);
	for (int64_t i = 0; i < FIRST_NARROW; i++, words += step)
		narrow[(2 + i) * size] = (int32_t)words[row];
	for (int64_t i = 0; i < FIRST_WIDE; i++, words += step)
		wide[(4 + i) * size] = words[row];
	words += row * call->hops;
	for (int64_t hop = 0; hop < call->hops; hop++) {
		narrow[(2 + FIRST_NARROW + hop) * size] = (int32_t)words[hop];
		for (int64_t i = 0; i < 4; i++)
			wide[(9 + i * to->hops + hop) * size] = words[(i + 1) * step * call->hops + hop];
		set_bit(to, 2 + hop, at);
	}
}

/* The rows of `calls` calls, of which the first has that number, from row `at` on. They must fit, and have no bits yet. */
void fill(const struct rows *to, const struct header *headers, int64_t calls, int64_t first, const int64_t *words, int64_t at)
{
	for (int64_t i = 0; i < calls; i++) {
		for (int64_t row = 0; row < headers[i].rows; row++)
			copy_row(to, &headers[i], first + i, words + headers[i].start, row, at++);
	}
}
