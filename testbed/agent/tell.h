/* SPDX-License-Identifier: Apache-2.0
 *
 * Telling a controller per flow what has happened, with what it decides left in its record: tell.c. It owns the trace, and what is
 * measured of calls. Those that return something say whether the controller has done well.
 */
#ifndef TESTBED_TELL_H
#define TESTBED_TELL_H

#include <stdint.h>

struct datapath;
struct progress;
struct record;

int tell_start(struct datapath *d, int64_t f, double now);
int tell_sent(struct datapath *d, int64_t f, int64_t bytes, double now);
int tell_timer(struct datapath *d, int64_t f, double now);
int tell_timeout(struct datapath *d, int64_t f, int64_t lost, double now);
void tell_ack(struct datapath *d, int64_t f, const struct record *r, const struct progress *what, double rtt, double now);
void tell_loss(struct datapath *d, int64_t f, int64_t lost, double now);
void tell_cnp(struct datapath *d, int64_t f, double now);
void tell_src(struct datapath *d, int64_t f, const struct record *r, double age, double now);

#endif
