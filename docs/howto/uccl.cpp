#include <algorithm>
#include <cmath>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "testbed_cc.h"

static double now; // s, what the header's clock shows
static const double freq_ghz = 1;
static size_t rdtsc() { return static_cast<size_t>(now * 1e9); }
static double to_usec(size_t cycles, double ghz) { return static_cast<double>(cycles) / ghz / 1e3; }
static double rate_to_gbps(double rate) { return rate * 8 / 1e9; }
struct Latency {
	size_t count() const { return 0; }
	double perc(double) const { return 0; }
	void reset() {}
};

#include "cc/swift.h"

CC_NO_OPTIONS

struct cc_flow {
	CC_FLOW;
	uccl::swift::SwiftCC swift;
};

static void on_start(struct cc_flow *flow, double at)
{
	now = at;
	new (&flow->swift) uccl::swift::SwiftCC(freq_ghz, flow->path.line_rate / 8);
	flow->window = flow->swift.get_wnd();
}

static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
	now = ack->now;
	flow->swift.adjust_wnd(ack->rtt * 1e6, static_cast<uint32_t>(ack->bytes));
	flow->window = flow->swift.get_wnd();
}

CC_CONTROLLER(.text = "UCCL's Swift.", .signals = CC_RTT, .on_start = on_start, .on_ack = on_ack)
