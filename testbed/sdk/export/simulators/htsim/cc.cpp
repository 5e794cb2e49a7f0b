// SPDX-License-Identifier: Apache-2.0
#include "cc.h"

#include "ecn.h"
#include "eth_pause_packet.h"

static const double PS = 1e-12;
static const simtime_picosec NEVER = UINT64_MAX;
static const simtime_picosec RTO = 1000000000; // 1 ms

static double seconds(simtime_picosec t)
{
	return static_cast<double>(t) * PS;
}

static simtime_picosec picoseconds(double t)
{
	return t * 1e12 < 1e19 ? static_cast<simtime_picosec>(std::ceil(t * 1e12)) : NEVER;
}

static cc_path path_of(linkspeed_bps rate, simtime_picosec base_rtt, int hops)
{
	cc_path path;

	path.line_rate = static_cast<double>(rate);
	path.base_rtt = path.longest_rtt = seconds(base_rtt);
	path.bdp = path.line_rate * path.base_rtt / 8;
	path.hops = hops;
	path.payload = Packet::data_packet_size();
	path.wire_size = path.payload + HPCCPacket::ACKSIZE;
	return path;
}

CcSrc::CcSrc(EventList &events, const CcOptions &options, linkspeed_bps rate, simtime_picosec base_rtt, int hops)
    : BaseQueue(rate, events, nullptr), _flow(options, path_of(rate, base_rtt, hops)), _packets(nullptr),
      _payload(Packet::data_packet_size()), _wire(_payload + HPCCPacket::ACKSIZE), _rto(RTO), _wakes(NEVER)
{
	_nodename = "cc_src";
}

void CcSrc::connect(Route *out, Route *back, CcSink &sink, simtime_picosec start)
{
	_route = out;
	_sink = &sink;
	_sink->_route = back;
	_packets.set_id(get_id());
	if (start != TRIGGER_START) {
		_start = _wakes = start;
		eventlist().sourceIsPending(*this, start);
	}
}

void CcSrc::set_flowsize(uint64_t bytes)
{
	_left = (bytes + static_cast<uint64_t>(_payload) - 1) / static_cast<uint64_t>(_payload);
}

void CcSrc::activate()
{
	_running = true;
	_start = _next_send = _last_heard = eventlist().now();
	_flow.start(seconds(_start));
	wake();
}

bool CcSrc::may_send() const
{
	const double inflight = static_cast<double>(_wire) * static_cast<double>(_outstanding.size());

	return _left && !_paused && (_outstanding.empty() || inflight + static_cast<double>(_wire) <= _flow.window());
}

void CcSrc::doNextEvent()
{
	const simtime_picosec now = eventlist().now();

	if (now < _wakes) // an alarm that was set earlier
		return;
	_wakes = NEVER;
	if (!_running) {
		if (!_finished)
			activate();
		return;
	}
	if (picoseconds(_flow.next_timer()) <= now)
		_flow.timer(seconds(now));
	if (!_outstanding.empty() && now >= _last_heard + _rto) {
		const auto packets = static_cast<int64_t>(_outstanding.size());

		lose(_outstanding.size());
		_last_heard = now;
		_flow.timeout(seconds(now), packets);
	}
	if (now >= _next_send && may_send())
		send();
	wake();
}

// Set an alarm for whatever is due next, if there is none as early.
void CcSrc::wake()
{
	simtime_picosec due = picoseconds(_flow.next_timer());

	if (!_outstanding.empty())
		due = std::min(due, _last_heard + _rto);
	if (may_send())
		due = std::min(due, _next_send);
	due = std::max(due, eventlist().now());
	if (due < _wakes) {
		_wakes = due;
		eventlist().sourceIsPending(*this, due);
	}
}

void CcSrc::send()
{
	const simtime_picosec now = eventlist().now();
	HPCCPacket *packet =
	    HPCCPacket::newpkt(_packets, *_route, _next, static_cast<int>(_payload), false, _left == 1, _dst);

	packet->set_flags(0);
	packet->set_pathid(flow_id());
	packet->set_ts(now);
	if (_outstanding.empty())
		_last_heard = now;
	_outstanding.push_back(_next++);
	_left--;
	_flow.sent(seconds(now), _wire);
	_next_send = now + picoseconds(static_cast<double>(_wire * 8) / _flow.rate());
	packet->sendOn();
}

void CcSrc::lose(uint64_t packets)
{
	_outstanding.erase(_outstanding.begin(), _outstanding.begin() + static_cast<long>(packets));
	_losses += packets;
	_left += packets;
}

void CcSrc::receivePacket(Packet &pkt)
{
	if (pkt.type() == ETH_PAUSE)
		_paused = static_cast<EthPausePacket &>(pkt).sleepTime() > 0;
	else if (_running)
		acknowledged(static_cast<HPCCAck &>(pkt));
	pkt.free();
	if (_running)
		wake();
}

void CcSrc::acknowledged(HPCCAck &ack)
{
	const simtime_picosec now = eventlist().now();
	const auto found = std::lower_bound(_outstanding.begin(), _outstanding.end(), ack.ackno());
	cc_ack told;

	if (found == _outstanding.end() || *found != ack.ackno())
		return; // it was taken for lost
	const uint64_t passed = static_cast<uint64_t>(found - _outstanding.begin());
	if (passed) {
		lose(passed);
		_flow.lost(seconds(now), static_cast<int64_t>(passed));
	}
	_outstanding.pop_front();
	_last_heard = now;
	_acked++;
	told.now = seconds(now);
	told.packets = 1;
	told.bytes = _wire;
	told.seq = static_cast<int64_t>(ack.ackno());
	told.next_seq = static_cast<int64_t>(_next);
	told.inflight = _wire * static_cast<int64_t>(_outstanding.size());
	told.rtt = seconds(now - ack.ts());
	told.ce_packets = ack.flags() & ECN_CE ? 1 : 0;
	told.inc_packets = 0;
	told.hop_count = std::min<int64_t>(ack._int_hop, CC_MOST_HOPS);
	for (int64_t i = 0; i < told.hop_count; i++) {
		const IntEntry &entry = ack._int_info[i];

		// the queue as the packet leaves it; without a switch, a hop is known by its place
		told.hops[i].node = entry._switchID == UINT32_MAX ? i : static_cast<int64_t>(entry._switchID);
		told.hops[i].ts = seconds(entry._ts);
		told.hops[i].tx_bytes = static_cast<double>(entry._txbytes);
		told.hops[i].queue = std::max(0.0, static_cast<double>(entry._queuesize) - static_cast<double>(_wire));
		told.hops[i].rate = static_cast<double>(entry._linkrate);
	}
	_flow.acked(told);
	if (!_left && _outstanding.empty()) {
		_finished = now;
		_running = false;
		if (_end)
			_end->activate();
	}
}

void CcSink::receivePacket(Packet &pkt)
{
	HPCCPacket &packet = static_cast<HPCCPacket &>(pkt);
	HPCCAck *ack = HPCCAck::newpkt(packet.flow(), *_route, packet.seqno(), _src_host);

	_bytes += static_cast<uint64_t>(packet.size() - HPCCPacket::ACKSIZE);
	ack->set_flags(packet.flags() & ECN_CE);
	ack->set_pathid(packet.flow_id());
	ack->set_ts(packet.ts());
	ack->copy_int_info(packet._int_info, static_cast<int>(packet._int_hop));
	ack->sendOn();
	packet.free();
}
