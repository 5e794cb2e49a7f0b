/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Which of the packets that come to a nearly full buffer find room.
 *
 * Symmetric senders come to a port in the same order in every cycle. If the first one after a departure always took the
 * room, it would take it for ever: of two senders one would lose every packet that is lost. In real racks clocks differ,
 * departures jitter and a switch serves its inputs in turn, so that all lose alike. Here, while there is room for less
 * than SCARCE packets, every packet that arrives has the same chance to get in, whatever its phase: the share that the
 * port sends of what arrives. One packet is drawn of each 1 / share of them, so that the queue stays where it is.
 */
#ifndef TESTBED_SCARCE_BPF_H
#define TESTBED_SCARCE_BPF_H

#define MEASURED 16 /* packets sent, over which the share is measured */

static __always_inline __u32 scarce_room(struct port_config *config, __u32 length)
{
	__u32 room = SCARCE * length;

	return room < config->buffer / 8 ? room : config->buffer / 8;
}

/* A packet comes; before it, `sent` has left the queue. */
static __always_inline void measure_share(struct queue *port, struct port_config *config, __u32 length, __u64 sent, __u32 queue)
{
	__u32 scarce = scarce_room(config, length), room = config->buffer - queue;
	__u64 share;

	port->sent += sent;
	if (port->sent >> RATE_SHIFT >= MEASURED * length && port->offered) {
		share = port->sent / port->offered;
		if (share > 1ull << 32)
			share = 1ull << 32;
		if (queue > config->buffer)
			room = 0;
		if (room > scarce)
			room = scarce;
		/* towards the middle of the scarce room: half of the way until the next measurement */
		share = share * (4 * MEASURED + 2 * room / length - scarce / length) / (4 * MEASURED);
		port->share = share > 0xffffffff ? 0xffffffff : share;
		port->sent = 0;
		port->offered = 0;
	}
	port->offered += length;
}

static __always_inline int finds_room(struct queue *port, struct port_config *config, __u32 length, __u32 queue, __u32 random)
{
	__u32 from = port->position;
	int drawn;

	if (queue + length > config->buffer)
		return 0;
	if (config->buffer - queue >= scarce_room(config, length) || !port->share)
		return 1;
	port->position += port->share;
	drawn = port->drawn >= from && port->drawn - from < port->share;
	if (port->position < from) {
		port->drawn = random;
		drawn |= random < port->position;
	}
	return drawn;
}

#endif
