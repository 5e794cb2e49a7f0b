/* SPDX-License-Identifier: Apache-2.0
 *
 * Sleep and send until something is due, or there is feedback: sleep.c, of this machine or of the virtual engine.
 */
#ifndef TESTBED_SLEEP_H
#define TESTBED_SLEEP_H


struct datapath;

void send_until(struct datapath *d, double until);

#endif
