/* SPDX-License-Identifier: Apache-2.0
 *
 * Series of flows and ports, taken without Python: sampler.py, which mirrors this.
 */
#ifndef TESTBED_SAMPLER_H
#define TESTBED_SAMPLER_H

#include "../../dataplane/port_reader.h"
#include "../../live/samples.h"
#include "world.h"

/* Of all flows: doubles, or whole numbers of that unit. */
struct flow_column {
	const uint8_t *from;
	int64_t stride, unit; /* bytes; 0: doubles */
};

struct sampler {
	const int64_t *at; /* ticks at whose end samples are due, behind the last INT64_MAX */
	int64_t taken;
	const struct flow_column *columns;
	const int64_t *chosen; /* flows */
	const struct ports *rack, *each; /* each: rows of queues, where ports have several */
	struct samples *flows, *ports, *queues;
	double *row; /* room for one of either */
	int64_t bottleneck; /* position of the port whose queue is held against what its line has yet to serialise; -1: none */
	double difference; /* the largest, bytes */
};

static void take_flows(const struct sampler *s)
{
	int64_t n = s->flows->width;
	double *to = s->row;

	for (int64_t k = 0; k < s->flows->columns; k++, to += n) {
		const struct flow_column *c = &s->columns[k];

		for (int64_t i = 0; i < n; i++) {
			const void *from = c->from + s->chosen[i] * c->stride;

			to[i] = c->unit ? (double)(*(const int64_t *)from * c->unit) : *(const double *)from;
		}
	}
	add_sample(s->flows, s->row);
}

static void take_ports(const struct world *w, struct sampler *s, int64_t tick)
{
	read_ports(s->rack, tick, s->row);
	add_sample(s->ports, s->row);
	if (s->each) { /* nobody but the port is asked for its bottleneck then */
		read_ports(s->each, tick, s->row);
		add_sample(s->queues, s->row);
	}
	if (s->bottleneck >= 0) {
		const struct line *l = &w->lines[w->out[s->rack->index[s->bottleneck]]];
		double left = l->free > tick ? (double)((l->free - tick) << TICK_SHIFT) / (double)l->per_byte : 0;
		double difference = left - s->row[QUEUE * s->rack->count + s->bottleneck];

		difference = difference < 0 ? -difference : difference;
		s->difference = difference > s->difference ? difference : s->difference;
	}
}

/* All that are due before the moment `until`. */
void take_samples(struct world *w, int64_t until)
{
	struct sampler *s = w->sampler;

	for (; w->next_sample < until; w->next_sample = s->at[++s->taken]) {
		catch_up_all(w, w->next_sample + 1);
		take_ports(w, s, w->next_sample);
		take_flows(s);
	}
}

#endif
