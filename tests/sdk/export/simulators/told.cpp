// SPDX-License-Identifier: Apache-2.0
// A flow of cc_flow.hpp is told what stands in its input, and says what it has decided after each event.
#include "cc_flow.hpp"

#include <cstdio>

int main(int argc, char **argv)
{
	CcOptions options;
	cc_path path = {};
	char event[16];
	double now, value;

	try {
		for (int i = 1; i < argc; i++)
			options.set(argv[i]);
	} catch (const std::invalid_argument &error) {
		std::fprintf(stderr, "%s\n", error.what());
		return 2;
	}
	path.line_rate = 100e9;
	path.base_rtt = path.longest_rtt = 8e-6;
	path.bdp = 1e5;
	path.hops = 1;
	path.payload = 1000;
	path.wire_size = 1086;
	CcFlow flow(options, path);
	flow.start(0);
	while (std::scanf("%15s %lf %lf", event, &now, &value) == 3) {
		const std::string what = event;
		cc_ack ack = {};

		ack.now = now;
		ack.rtt = value;
		ack.packets = ack.ce_packets = 1;
		ack.bytes = path.wire_size;
		if (what == "ack")
			flow.acked(ack);
		else if (what == "loss")
			flow.lost(now, static_cast<int64_t>(value));
		else if (what == "timeout")
			flow.timeout(now, static_cast<int64_t>(value));
		else if (what == "timer")
			flow.timer(now);
		else
			flow.sent(now, static_cast<int64_t>(value));
		std::printf("%.17g %.17g %.17g\n", flow.rate(), flow.window(), flow.next_timer());
	}
	return 0;
}
