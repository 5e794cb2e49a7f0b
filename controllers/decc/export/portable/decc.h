/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DECC in C99: the whole controller, from acknowledgements to a rate and a window. No allocation, no global state, no libc
 * beyond exp(), log(), sqrt() and tanh(). Times are in seconds, sizes in bytes on the wire, rates in bit/s.
 *
 *	decc_start(&flow, &path);
 *	for what an ACK acknowledges:
 *		decc_ack(&flow, &path, now, rtt, packets, bytes);
 *	send at flow.rate, with at most flow.window in flight
 *
 * example.c does all of it.
 */
#ifndef DECC_H
#define DECC_H

#ifdef __cplusplus
extern "C" {
#endif

enum { DECC_SEEN = 5, DECC_HISTORY = 5, DECC_FEATURES = 25 };

#define DECC_ALPHA 0.85           /* of an action, on the window */
#define DECC_MOST_ACTION 0.5
#define DECC_LEAST_SHARE 1e-4     /* of the path: less looks alike */
#define DECC_MOST_DELAY 8.0       /* base RTTs of queueing: more looks alike */
#define DECC_LEAST_WINDOW 0.015625 /* packets */
#define DECC_MOST_WINDOW 3.0      /* BDP */
#define DECC_STAGGER 0.25         /* RTTs that a period is longer, at most */
#define DECC_GOLDEN 0.6180339887498949

struct decc_path {
	double line_rate; /* bit/s */
	double base_rtt;  /* s, of the flow's path, configured */
	double packet;    /* bytes on the wire of a full packet */
};

struct decc_flow {
	double rate;        /* bit/s: what to send at */
	double window;      /* bytes, whole packets: what may be in flight */
	double cwnd;        /* bytes */
	double rtt_average; /* s */
	double begun;       /* s: when this period began; -1 before the first acknowledgement */
	double until;       /* s: what left from then on ends it */
	double turn;        /* how much of the stagger this period has */
	double acked, rtts; /* bytes, and seconds over packets, in this period */
	double packets, lost;
	double halved;      /* s: for a timeout */
	double seen[DECC_FEATURES];
	int fresh;          /* nothing has been decided yet */
};

/* A flow begins, or begins anew, with a BDP. */
void decc_start(struct decc_flow *flow, const struct decc_path *path);

/* Packets and their bytes were acknowledged, with this RTT, now. Returns 1 if that ended a period, and decided. */
int decc_ack(struct decc_flow *flow, const struct decc_path *path, double now, double rtt, int packets, double bytes);

/* So many packets were lost. */
void decc_loss(struct decc_flow *flow, int packets);

/* Nothing came back for too long. */
void decc_timeout(struct decc_flow *flow, const struct decc_path *path, double now);

/* The policy: five periods of (throughput, delay, loss, window, rate), oldest first, to an action. Generated. */
double decc_policy(const double seen[DECC_FEATURES]);

#ifdef __cplusplus
}
#endif
#endif
