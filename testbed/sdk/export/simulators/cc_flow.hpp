// SPDX-License-Identifier: Apache-2.0
//
// A flow with a controller of testbed_cc.h, for simulators in C++. Units are that header's: s, bytes, bit/s.
#ifndef TESTBED_CC_FLOW_HPP
#define TESTBED_CC_FLOW_HPP

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include "testbed_cc.h"
extern const struct cc_library cc_library;
}

// The options of all flows: the controller's defaults, until they are set.
class CcOptions
{
public:
	CcOptions() : _bytes(words(cc_library.options_size))
	{
		for (const cc_option *one = cc_library.options; one->name; one++)
			put(*one, one->initial);
	}

	// "beta=0.5"; of a choice its text. Throws std::invalid_argument.
	void set(const std::string &assignment)
	{
		const size_t equals = assignment.find('=');
		const std::string name = assignment.substr(0, equals);

		for (const cc_option *one = cc_library.options; one->name; one++)
			if (name == one->name && equals != std::string::npos)
				return put(*one, read(*one, assignment.substr(equals + 1)));
		throw std::invalid_argument("option " + assignment + ": expected NAME=VALUE, NAME one of" + names());
	}

	// An option of type double; `otherwise` if the controller has none of that name.
	double number(const std::string &name, double otherwise) const
	{
		double value = otherwise;

		for (const cc_option *one = cc_library.options; one->name; one++)
			if (name == one->name && one->type == std::string("double"))
				std::memcpy(&value, at(*one), sizeof value);
		return value;
	}

	const void *data() const { return _bytes.data(); }

	static size_t words(int64_t bytes) { return static_cast<size_t>(bytes + 7) / 8; }

private:
	const char *at(const cc_option &one) const { return reinterpret_cast<const char *>(_bytes.data()) + one.offset; }

	template <typename T> void write(const cc_option &one, double value)
	{
		const T typed = static_cast<T>(value);

		std::memcpy(reinterpret_cast<char *>(_bytes.data()) + one.offset, &typed, sizeof typed);
	}

	void put(const cc_option &one, double value)
	{
		const std::string type = one.type;

		if (type == "double")
			write<double>(one, value);
		else if (type == "bool")
			write<bool>(one, value);
		else if (type == "uint32_t")
			write<uint32_t>(one, value);
		else
			write<int64_t>(one, value);
	}

	static double read(const cc_option &one, const std::string &text)
	{
		if (one.type == std::string("cc_choice")) {
			const std::string padded = "|" + std::string(one.range) + "|";
			const size_t found = padded.find("|" + text + "|");

			if (found == std::string::npos)
				throw std::invalid_argument(std::string(one.name) + "=" + text + ": expected " + one.range);
			return static_cast<double>(std::count(padded.begin(), padded.begin() + static_cast<long>(found), '|'));
		}
		size_t end = 0;
		const double value = std::stod(text, &end);

		if (end != text.size())
			throw std::invalid_argument(std::string(one.name) + "=" + text + ": expected a number, SI and without unit");
		return value;
	}

	static std::string names()
	{
		std::string all;

		for (const cc_option *one = cc_library.options; one->name; one++)
			all += std::string(" ") + one->name;
		return all;
	}

	std::vector<uint64_t> _bytes;
};

class CcFlow
{
public:
	CcFlow(const CcOptions &options, const cc_path &path)
	    : _line_rate(path.line_rate), _cnp_interval(options.number("cnp_interval", 50e-6)),
	      _state(CcOptions::words(cc_library.flow_size))
	{
		const double decided[3] = {path.line_rate, infinity(), infinity()};
		const void *given = options.data();

		std::memcpy(_state.data(), decided, sizeof decided);
		std::memcpy(bytes() + cc_library.options_at, &given, sizeof given);
		std::memcpy(bytes() + cc_library.path_at, &path, sizeof path);
	}

	void start(double now) { tell(CC_ON_START, now, 0, NULL); }
	// Its time has come, by a clock whose ticks may be coarser.
	void timer(double now) { tell(CC_ON_TIMER, std::max(now, next_timer()), 0, NULL); }
	void sent(double now, int64_t size) { tell(CC_ON_SENT, now, size, NULL); }
	void lost(double now, int64_t packets) { tell(CC_ON_LOSS, now, packets, NULL); }
	void timeout(double now, int64_t packets) { tell(CC_ON_TIMEOUT, now, packets, NULL); }

	// An acknowledgement, then the CNP that a receiver would have sent with it: at most one per interval.
	void acked(const cc_ack &ack)
	{
		tell(CC_ON_ACK, ack.now, 0, &ack);
		if (ack.ce_packets && wants(CC_CNP) && ack.now >= _next_cnp) {
			_next_cnp = ack.now + _cnp_interval;
			tell(CC_ON_CNP, ack.now, 0, NULL);
		}
	}

	double rate() const { return std::min(decided(0), _line_rate); }
	double window() const { return decided(1); }
	double next_timer() const { return decided(2); }

	static bool wants(int64_t signals) { return (cc_library.controller->signals & signals) != 0; }
	static double infinity() { return std::numeric_limits<double>::infinity(); }

private:
	char *bytes() { return reinterpret_cast<char *>(_state.data()); }

	double decided(size_t which) const
	{
		double value;

		std::memcpy(&value, _state.data() + which, sizeof value);
		return value;
	}

	void tell(cc_event event, double now, int64_t number, const cc_ack *ack)
	{
		cc_library.decide(NULL, NULL, reinterpret_cast<cc_flow *>(_state.data()), event, now, number, ack);
		if (!(decided(0) > 0 && decided(1) > 0 && !std::isnan(decided(2))))
			throw std::runtime_error("the controller decided a rate or a window that is not above 0, or no timer");
	}

	double _line_rate, _cnp_interval, _next_cnp = 0;
	std::vector<uint64_t> _state;
};

#endif
