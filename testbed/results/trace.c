// SPDX-License-Identifier: Apache-2.0
/* From the calls of a trace, whose words lie column by column in each, to columns of all their rows: trace.py. */
#define _GNU_SOURCE /* qsort_r */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum call { START, FEEDBACK, TIMEOUT, SENT, TIMER, SRC };

#define FIRST_NARROW 7 /* of what feedback tells: as the columns of trace.py are ordered */
#define FIRST_WIDE 4
#define NEAR 64
#define FLOW 3 /* its word in a call */

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
	int64_t size, hops, length; /* length: rows that are there */
};

/*
 * Rows that lie alike: those of one call, or of calls about one flow each. Each row lies `row` words behind the one before, its
 * INT `hop_row` words, and each of its columns `column` words, its header `header` headers.
 */
struct alike {
	const struct header *first;
	const int64_t *words;
	int64_t rows, number, row, hop_row, column, header;
};

static void set_bits(const struct rows *to, int64_t column, int64_t at, int64_t count)
{
	int64_t bit = column * to->size + at, end = bit + count;

	for (; bit < end && bit & 7; bit++)
		to->valid[bit >> 3] |= (uint8_t)(1 << (bit & 7));
	for (; bit + 8 <= end; bit += 8)
		to->valid[bit >> 3] = 0xff;
	for (; bit < end; bit++)
		to->valid[bit >> 3] |= (uint8_t)(1 << (bit & 7));
}

static void copy_wide(int64_t *to, const int64_t *from, int64_t count, int64_t step)
{
	for (int64_t i = 0; i < count; i++)
		to[i] = from[i * step];
}

static void copy_narrow(int32_t *to, const int64_t *from, int64_t count, int64_t step)
{
	for (int64_t i = 0; i < count; i++)
		to[i] = (int32_t)from[i * step];
}

/* They become rows from `at` on: column by column, which is quicker than row by row. */
static void copy_rows(const struct rows *to, const struct alike *of, int64_t at)
{
	int64_t n = of->rows, size = to->size, row = of->row, kind = of->first->kind, hops = of->first->hops;
	const int64_t *words = of->words;
	int32_t *narrow = to->narrow + at;
	int64_t *wide = to->wide + at;

	memset(to->kind + at, (int)kind, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		memcpy(wide + i, &of->first[i * of->header].time, sizeof(*wide));
		narrow[i] = (int32_t)(of->number + i * of->header);
	}
	for (int64_t i = 1; i < 4; i++, words += of->column)
		copy_wide(wide + i * size, words, n, row);
	copy_narrow(narrow + size, words, n, row);
	words += of->column;
	if (kind == SENT) {
		copy_wide(wide + 8 * size, words, n, row);
		set_bits(to, 1, at, n);
	}
	if (kind != FEEDBACK && kind != TIMEOUT && kind != SRC) {
		for (int64_t i = 0; i < FIRST_NARROW; i++) /* counts: nothing was acknowledged */
			memset(narrow + (2 + i) * size, 0, (size_t)n * sizeof(*narrow));
		return;
	}
	set_bits(to, 0, at, n);
	for (int64_t i = 0; i < FIRST_NARROW; i++, words += of->column)
		copy_narrow(narrow + (2 + i) * size, words, n, row);
	for (int64_t i = 0; i < FIRST_WIDE; i++, words += of->column)
		copy_wide(wide + (4 + i) * size, words, n, row);
	for (int64_t hop = 0; hop < hops; hop++) {
		copy_narrow(narrow + (2 + FIRST_NARROW + hop) * size, words + hop, n, of->hop_row);
		for (int64_t i = 0; i < 4; i++)
			copy_wide(wide + (9 + i * to->hops + hop) * size, words + (i + 1) * of->column * hops + hop, n,
				  of->hop_row);
		set_bits(to, 2 + hop, at, n);
	}
}

/* How many of these calls are about one flow each and lie alike: at most so many that their words stay in the nearest cache. */
static int64_t count_alike(const struct header *of, int64_t calls)
{
	int64_t step = of[1].start - of->start, n = 1;

	while (n < calls && n < NEAR && of[n].rows == 1 && of[n].kind == of->kind && of[n].hops == of->hops &&
	       of[n].start - of[n - 1].start == step)
		n++;
	return n;
}

/* Add the rows of calls, of which the first has that number, while they fit: how many of `calls`. New rows have no bits yet. */
int64_t fill(struct rows *to, const struct header *headers, int64_t calls, int64_t first, const int64_t *words)
{
	int64_t i, done;

	for (i = 0; i < calls && headers[i].rows <= to->size - to->length; i += done) {
		const struct header *own = headers + i;
		struct alike of = {own, words + own->start, own->rows, first + i, 1, own->hops, own->rows, 0};
		int64_t most = own->rows == 1 ? to->size - to->length : 1;

		done = 1;
		if (most > calls - i)
			most = calls - i;
		if (most > 1) {
			of.rows = done = count_alike(own, most);
			of.row = of.hop_row = own[1].start - own->start;
			of.header = 1;
		}
		copy_rows(to, &of, to->length);
		to->length += of.rows;
	}
	return i;
}

/* What says which of two calls about one flow each is first. */
struct order {
	const int64_t *words, *host; /* host: of each flow */
};

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* At one instant: by host, and each host's calls as they were made. */
static int compare_calls(const void *one, const void *other, void *order)
{
	const struct header *a = one, *b = other;
	const struct order *by = order;
	int first = compare(by->host[by->words[a->start + FLOW]], by->host[by->words[b->start + FLOW]]);

	return first ? first : compare(a->start, b->start);
}

/* Calls in the order of time: those of one instant in an order that does not depend on who has made them. */
void order_instants(struct header *headers, int64_t calls, const int64_t *words, const int64_t *host)
{
	struct order by = {words, host};

	for (int64_t first = 0, end; first < calls; first = end) {
		int sorted = 1;

		for (end = first + 1; end < calls && headers[end].time == headers[first].time; end++)
			sorted &= compare_calls(&headers[end - 1], &headers[end], &by) < 0;
		if (!sorted)
			qsort_r(headers + first, (size_t)(end - first), sizeof(*headers), compare_calls, &by);
	}
}
