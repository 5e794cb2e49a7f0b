// SPDX-License-Identifier: Apache-2.0
//
// An incast through one switch: usage() says how. It prints what the link carried, what queued, and when flows ended.
#include <cstdio>
#include <cstdlib>

#include "cc.h"
#include "ecnqueue.h"
#include "pipe.h"
#include "queue_lossless_input.h"
#include "queue_lossless_output.h"

static const mem_b HOST_QUEUE = 1 << 30;

struct Settings {
	int senders = 16;
	double rate = 100e9, delay = 2e-6, until = 10e-3;	 // bit/s, s per link, s
	double buffer = 5e6, mark_above = 400e3, payload = 1000; // bytes
	double size = 0;					 // bytes of a flow, 0: endless
};

static int usage(const char *what)
{
	std::fprintf(stderr,
		     "%s\nusage: incast [senders=16] [rate=100e9] [delay=2e-6] [until=10e-3] [buffer=5e6] [mark_above=400e3] "
		     "[payload=1000] [size=0] [NAME=VALUE of the controller ...]\nSI units: s, bytes, bit/s.\n",
		     what);
	return 2;
}

// Samples a queue after a fifth of the run.
class Watch : public EventSource
{
public:
	Watch(EventList &events, const BaseQueue &queue, const vector<CcSrc *> &flows, double until)
	    : EventSource(events, "watch"), _queue(queue), _flows(flows), _from(until / 5)
	{
		events.sourceIsPending(*this, timeFromSec(_from));
	}

	void doNextEvent() override
	{
		if (_bytes.empty())
			for (const CcSrc *flow : _flows)
				_before.push_back(flow->acked());
		_bytes.push_back(static_cast<double>(_queue.queuesize()));
		eventlist().sourceIsPendingRel(*this, timeFromNs(500.0));
	}

	void tell(const Settings &set, double wire)
	{
		double mean = 0, total = 0, squares = 0;

		for (double one : _bytes)
			mean += one / static_cast<double>(_bytes.size());
		std::sort(_bytes.begin(), _bytes.end());
		for (size_t i = 0; i < _flows.size(); i++) {
			const double packets = static_cast<double>(_flows[i]->acked() - _before[i]);

			total += packets;
			squares += packets * packets;
		}
		const double us = 8e6 / set.rate, n = static_cast<double>(_flows.size());
		std::printf("utilisation %.2f %%, queueing mean %.3g us, p99 %.3g us, Jain %.4f\n",
			    100 * total * wire * 8 / set.rate / (set.until - _from), mean * us,
			    _bytes[_bytes.size() * 99 / 100] * us, squares > 0 ? total * total / n / squares : 1.0);
	}

private:
	const BaseQueue &_queue;
	const vector<CcSrc *> &_flows;
	double _from;
	vector<double> _bytes;
	vector<uint64_t> _before;
};

static bool given(Settings &set, const string &text)
{
	const size_t at = text.find('=');
	const string name = text.substr(0, at);
	double *known = name == "rate"	       ? &set.rate
			: name == "delay"      ? &set.delay
			: name == "until"      ? &set.until
			: name == "buffer"     ? &set.buffer
			: name == "mark_above" ? &set.mark_above
			: name == "payload"    ? &set.payload
			: name == "size"       ? &set.size
					       : nullptr;

	if (at == string::npos || (!known && name != "senders"))
		return false;
	if (known)
		*known = std::stod(text.substr(at + 1));
	else
		set.senders = std::stoi(text.substr(at + 1));
	return true;
}

int main(int argc, char **argv)
{
	Settings set;
	CcOptions options;
	EventList events;

	try {
		for (int i = 1; i < argc; i++)
			if (!given(set, argv[i]))
				options.set(argv[i]);
	} catch (const std::invalid_argument &error) {
		return usage(error.what());
	}
	Packet::set_packet_size(static_cast<int>(set.payload));
	events.setEndtime(timeFromSec(set.until));
	const linkspeed_bps rate = static_cast<linkspeed_bps>(set.rate);
	const double wire = set.payload + HPCCPacket::ACKSIZE, bits = 8 * (wire + HPCCPacket::ACKSIZE);
	const simtime_picosec base_rtt = timeFromSec(4 * set.delay + 2 * bits / set.rate);
	const simtime_picosec delay = timeFromSec(set.delay);
	const mem_b buffer = static_cast<mem_b>(set.buffer), mark_above = static_cast<mem_b>(set.mark_above);
	const bool reads_int = CcFlow::wants(CC_INT); // only the lossless queue writes it
	Queue *port;

	// one ingress port per sender, none of which ever pauses its sender before the buffer is full
	LosslessInputQueue::_high_threshold = static_cast<uint64_t>(buffer / set.senders);
	LosslessInputQueue::_low_threshold = LosslessInputQueue::_high_threshold / 2;
	if (reads_int)
		port = new LosslessOutputQueue(rate, buffer, events, nullptr, 1, static_cast<int>(mark_above));
	else
		port = new ECNQueue(rate, buffer, events, nullptr, mark_above);
	vector<CcSrc *> flows;
	for (int i = 0; i < set.senders; i++) {
		CcSrc *source = new CcSrc(events, options, rate, base_rtt, 1);
		CcSink *sink = new CcSink();
		Route *out = new Route(), *back = new Route();

		out->push_back(new Queue(rate, HOST_QUEUE, events, nullptr));
		out->push_back(new Pipe(delay, events));
		if (reads_int)
			out->push_back(new LosslessInputQueue(events, source));
		out->push_back(port);
		out->push_back(new Pipe(delay, events));
		out->push_back(sink);
		back->push_back(new Queue(rate, HOST_QUEUE, events, nullptr));
		back->push_back(new Pipe(delay, events));
		back->push_back(new Queue(rate, HOST_QUEUE, events, nullptr));
		back->push_back(new Pipe(delay, events));
		back->push_back(source);
		if (set.size > 0)
			source->set_flowsize(static_cast<uint64_t>(set.size));
		source->connect(out, back, *sink, 0);
		flows.push_back(source);
	}
	Watch watch(events, *port, flows, set.until);
	while (events.doNextEvent()) {
	}
	uint64_t losses = 0, finished = 0;
	double last = 0, sum = 0;
	for (const CcSrc *flow : flows) {
		losses += flow->losses();
		if (flow->finished()) {
			const double took = timeAsUs(flow->finished() - flow->started());

			finished++;
			sum += took;
			last = std::max(last, took);
		}
	}
	if (set.size > 0)
		std::printf("finished %d of %d, mean %.1f us, last %.1f us\n", static_cast<int>(finished), set.senders,
			    finished ? sum / static_cast<double>(finished) : 0.0, last);
	else
		watch.tell(set, wire);
	std::printf("base RTT %.3f us, lost %llu\n", timeAsUs(base_rtt), static_cast<unsigned long long>(losses));
	return 0;
}
