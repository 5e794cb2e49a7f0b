/* SPDX-License-Identifier: Apache-2.0
 *
 * Credits: after what it may send unasked, a flow sends only what its receiver has granted; credits.c, the sender, owns
 * `spenders`, and grants.c the rest. Counts are packets
 * since the flow began, which only grow, so that a credit that is lost is made up for by the next one.
 *
 * At its sender a flow may have sent `unasked` + `granted`. Every data packet says how many it wants to have been granted,
 * in the bits of its ImmDt that entropy leaves (wire.h). At the receiver those that want more wait in a queue per host:
 * each is granted a few packets in turn.
 */
#ifndef TESTBED_CREDITS_H
#define TESTBED_CREDITS_H

#include <stdint.h>

#include "../compiled/decide.h"
#include "../dataplane/wire.h"

#define KEPT 8
#define CREDIT_SIZE (sizeof(struct roce) + ICRC_SIZE) /* bytes of its frame */
enum receiver_event { RECEIVER_START, RECEIVER_ARRIVAL, RECEIVER_TIMER };

#define MOST_WANTED 32768 /* packets ahead: half of what the bits of a packet tell apart */

/* What a credit controller decides about a flow: its record begins with it. */
struct allowed {
	double window, timer;
};

/* What it is told, and what it decides for a host. Mirrored in compiled/layout.py. */
struct arrived {
	struct {
		double rate, window, credit, line_rate, base_rtt, bdp;
		int64_t wire_size, outstanding, senders;
		double kept[KEPT];
	} host;
	struct {
		double now;
		int64_t bytes, ce_packets, waiting, outstanding;
		double delay;
		int64_t trimmed;
	} arrival;
};

/* Of a flow, at its sender. */
struct spender {
	int64_t unasked, granted;
	int64_t starved; /* nothing came back: its next packet asks for what was granted */
	double patience; /* s beyond a timeout until it is: longer each time, shorter with each credit */
};

/* Of a flow, at its receiver. Mirrored in credits.py. */
struct account {
	int64_t host;			 /* that receives it, among those of this agent */
	int64_t unasked, granted, asked;
	int64_t left;			 /* packets that have left the sender, as far as arrivals tell */
	int64_t started, queued, after;
	int64_t again;			 /* its sender has to be told once more */
	int64_t trims;			 /* packets of which only the headers have come */
};

/* A host that receives. */
struct granter {
	struct arrived told;
	int64_t interface; /* in `arrivals` */
	double next; /* when it may grant again */
	double heard; /* when something last arrived, or was granted */
	int64_t outstanding; /* packets */
	int64_t first, last; /* flows that wait for credits; -1 */
};

/* Mirrored in structs.py. */
struct credits {
	struct spender *spenders; /* per flow of this agent; NULL: nobody asks, and the rest is 0 */
	struct account *accounts; /* per flow of the rack */
	struct granter *granters;
	struct decider *decider;
	int64_t *fd; /* per flow of the rack, of a socket to its sender; not in virtual time */
	int64_t flows; /* of the rack */
	int64_t hosts, first_id; /* in the agenda: granters, and behind them flows of the rack, for their timers */
	int64_t failed; /* the controller has, and says how */
};

struct datapath;
struct record;

#define ASIDE __attribute__((noinline)) /* who has no credits never calls them */

ASIDE int64_t affordable(const struct datapath *d, int64_t f, int64_t packets);
ASIDE uint32_t what_it_wants(struct datapath *d, int64_t f);
ASIDE int take_credit(struct datapath *d, const struct record *r, double now);
void ask_again(struct datapath *d, const int64_t *flows, int64_t n);

/* The count nearest to `known` that is `told`, of which `bits` bits are. */
static inline int64_t nearest(int64_t known, int64_t told, int bits)
{
	int64_t ahead = (told - known) & ((1ll << bits) - 1);

	return known + (ahead < 1ll << (bits - 1) ? ahead : ahead - (1ll << bits));
}

#endif
