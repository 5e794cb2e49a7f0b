/* SPDX-License-Identifier: Apache-2.0
 *
 * What switch ports have counted, as of any moment: port_reader.py, which mirrors this.
 */
#ifndef TESTBED_PORT_READER_H
#define TESTBED_PORT_READER_H

#include <stdint.h>

enum port_column {
	TX_BYTES, TX_PACKETS, QUEUE, PEAK_QUEUE, QUEUE_AREA, MARKED_PACKETS, DROPPED_PACKETS, KMIN, KMAX, PMAX, INGRESS,
	PAUSE_FRAMES, PAUSED, MARKED_BYTES, PORT_COLUMNS
};

struct port_counters;
struct ingress;
struct pause;
struct departures;

struct ports {
	const struct port_counters *counters; /* these three by ifindex */
	const struct ingress *ingresses;
	const struct pause *pauses;
	const struct departures *departures; /* of ports with several queues, whose rows are queues or ports; else NULL */
	const int64_t *index, *peer; /* ifindex of each port, and of the other end of its link; or rows of queues */
	/* where priorities pause by themselves: so many rows per port, of what came in there and of how its far end is paused */
	const int64_t *ingress_rows, *pause_rows; /* -1 for none */
	int64_t priorities;
	const double *bytes_per_second, *thresholds; /* wall; Kmin, Kmax, Pmax, column by column */
	int64_t count;
	double dilation;
};

/* As of `now` (wall ns), in nominal units: column by column. */
void read_ports(const struct ports *ports, int64_t now, double *to);

#endif
