// SPDX-License-Identifier: Apache-2.0
/* Two controllers are told the same; do they decide the same, to the bit? */
#include <string.h>

#include "decide.h"

/* Mirrored in made_up.py and compare.py. */
struct told {
	int64_t flow, event, number;
	double now;
	struct cc_ack ack;
};
struct outcome {
	int64_t raised; /* events that failed in the first: it raises, C goes on */
	int64_t different, first; /* decisions, and the event of the first */
};

static int begin(struct decider *d, int64_t f)
{
	memcpy(record_of(d, f), d->initial + f * d->size, (size_t)d->size);
	return 1;
}

/* `a` may fail: then both flows start again, and the event does not count. */
void compare(struct decider *a, struct decider *b, const struct told *all, int64_t n, struct outcome *found)
{
	for (int64_t i = 0; i < n; i++) {
		const struct told *t = all + i;
		int fine;

		if (t->event == CC_ON_START)
			begin(a, t->flow), begin(b, t->flow);
		fine = tell(a, t->flow, t->event, t->now, t->number, &t->ack);
		tell(b, t->flow, t->event, t->now, t->number, &t->ack);
		found->raised += !fine;
		if (fine && memcmp(record_of(a, t->flow), record_of(b, t->flow), sizeof(struct decided))) {
			if (!found->different++)
				found->first = i;
		}
		if (!fine) {
			begin(a, t->flow), begin(b, t->flow);
			tell(a, t->flow, CC_ON_START, t->now, 0, NULL);
			tell(b, t->flow, CC_ON_START, t->now, 0, NULL);
		}
	}
}
