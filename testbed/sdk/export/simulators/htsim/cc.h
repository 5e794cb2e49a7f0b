// SPDX-License-Identifier: Apache-2.0
//
// A source and a sink for htsim (csg-htsim) whose congestion controller is one of testbed_cc.h.
//
// Every packet is acknowledged. Packets of a flow are expected to keep their order: what is passed over is lost, and sent
// again under a new number. Packets are HPCC's, whose INT LosslessOutputQueue writes; marks are of any queue.
#ifndef TESTBED_HTSIM_CC_H
#define TESTBED_HTSIM_CC_H

#include <deque>

#include "cc_flow.hpp"
#include "eventlist.h"
#include "hpccpacket.h"
#include "queue.h"
#include "trigger.h"

class CcSink;

class CcSrc : public BaseQueue, public TriggerTarget
{
public:
	// `base_rtt`, of a full packet through empty queues, and `hops` are for the controller.
	CcSrc(EventList &events, const CcOptions &options, linkspeed_bps rate, simtime_picosec base_rtt, int hops);

	void connect(Route *out, Route *back, CcSink &sink, simtime_picosec start);
	void set_flowsize(uint64_t bytes); // by default endless
	void set_dst(uint32_t host) { _dst = host; }
	void set_end_trigger(Trigger &trigger) { _end = &trigger; }
	void set_min_rto(simtime_picosec rto) { _rto = rto; }

	void activate() override; // the flow starts
	void receivePacket(Packet &pkt) override;
	void doNextEvent() override;
	mem_b queuesize() const override { return 0; }
	mem_b maxsize() const override { return 0; }

	uint32_t flow_id() const { return _packets.flow_id(); }
	uint64_t acked() const { return _acked; } // packets
	uint64_t losses() const { return _losses; }
	simtime_picosec started() const { return _start; }
	simtime_picosec finished() const { return _finished; } // 0: not yet

private:
	void acknowledged(HPCCAck &ack);
	void lose(uint64_t packets);
	void send();
	bool may_send() const;
	void wake();

	CcFlow _flow;
	PacketFlow _packets;
	CcSink *_sink = nullptr;
	const Route *_route = nullptr;
	Trigger *_end = nullptr;
	uint32_t _dst = UINT32_MAX;
	int64_t _payload, _wire;
	simtime_picosec _rto, _start = 0, _finished = 0;
	simtime_picosec _wakes, _next_send = 0, _last_heard = 0; // when it wakes, may send, and heard last
	uint64_t _left = UINT64_MAX, _acked = 0, _losses = 0;	 // packets to be sent, acknowledged, lost
	uint64_t _next = 1;					 // number of the next packet
	std::deque<uint64_t> _outstanding;			 // numbers sent and not heard of
	bool _running = false, _paused = false;
};

class CcSink : public PacketSink, public DataReceiver
{
public:
	CcSink() : DataReceiver("cc_sink"), _nodename("cc_sink") {}

	void set_src(uint32_t host) { _src_host = host; }
	void receivePacket(Packet &pkt) override;
	uint64_t cumulative_ack() override { return _bytes; }
	uint32_t drops() override { return 0; }
	const string &nodename() override { return _nodename; }

private:
	friend class CcSrc;
	const Route *_route = nullptr;
	uint32_t _src_host = UINT32_MAX;
	uint64_t _bytes = 0;
	string _nodename;
};

#endif
