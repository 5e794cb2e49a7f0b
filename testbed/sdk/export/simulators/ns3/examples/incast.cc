// SPDX-License-Identifier: Apache-2.0
//
// An incast through one switch, with TestbedCc on every host. It prints what the link carried and what queued, or, with
// --size, when flows ended; connections are opened within that time.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/testbed-cc.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <numeric>

using namespace ns3;

static const uint32_t OVERHEAD = 42;

class Watch
{
  public:
    Watch(Ptr<QueueDisc> queue, const std::vector<Ptr<PacketSink>>& sinks, uint64_t size)
        : m_queue(queue), m_sinks(sinks), m_size(size), m_took(sinks.size())
    {
        for (size_t i = 0; i < sinks.size(); i++)
            sinks[i]->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Watch::Received, this, i));
    }

    void Sample()
    {
        if (m_bytes.empty())
            for (const auto& sink : m_sinks)
                m_before.push_back(sink->GetTotalRx());
        m_bytes.push_back(m_queue->GetNBytes());
        Simulator::Schedule(NanoSeconds(500), &Watch::Sample, this);
    }

    void Tell(double rate, double seconds, uint32_t segment)
    {
        if (m_size)
        {
            const auto ended = std::count_if(m_took.begin(), m_took.end(), [](double one) { return one > 0; });
            const double sum = std::accumulate(m_took.begin(), m_took.end(), 0.0);

            std::cout << "finished " << ended << " of " << m_took.size() << ", mean " << 1e6 * sum / ended << " us, last "
                      << 1e6 * *std::max_element(m_took.begin(), m_took.end()) << " us\n";
            return;
        }
        double total = 0;
        double squares = 0;
        for (size_t i = 0; i < m_sinks.size(); i++)
        {
            const double bytes = m_sinks[i]->GetTotalRx() - m_before[i];
            total += bytes;
            squares += bytes * bytes;
        }
        std::sort(m_bytes.begin(), m_bytes.end());
        const double us = 8e6 / rate;
        std::cout << "utilisation " << 100 * total * 8 * (segment + OVERHEAD) / segment / rate / seconds
                  << " %, queueing mean " << std::accumulate(m_bytes.begin(), m_bytes.end(), 0.0) / m_bytes.size() * us
                  << " us, p99 " << m_bytes[m_bytes.size() * 99 / 100] * us << " us, Jain "
                  << total * total / m_sinks.size() / squares << "\n";
    }

  private:
    static void Received(Watch* watch, size_t i, Ptr<const Packet>, const Address&)
    {
        if (watch->m_size && watch->m_sinks[i]->GetTotalRx() >= watch->m_size)
            watch->m_took[i] = Simulator::Now().GetSeconds();
    }

    Ptr<QueueDisc> m_queue;
    std::vector<Ptr<PacketSink>> m_sinks;
    uint64_t m_size;
    std::vector<double> m_took;
    std::vector<uint64_t> m_before;
    std::vector<double> m_bytes;
};

int
main(int argc, char* argv[])
{
    uint32_t senders = 16;
    uint32_t segment = 1000;
    uint64_t size = 0;
    uint64_t buffer = 5000000;
    double rate = 100e9;
    double delay = 2e-6;
    double until = 10e-3;
    double markAbove = 400e3;
    std::string options;

    Time::SetResolution(Time::PS); // a packet takes 83.36 ns
    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "flows, one per host", senders);
    cmd.AddValue("segment", "bytes of a TCP segment", segment);
    cmd.AddValue("size", "bytes of a flow; 0: endless", size);
    cmd.AddValue("buffer", "bytes", buffer);
    cmd.AddValue("rate", "bit/s of every link", rate);
    cmd.AddValue("delay", "s of every link", delay);
    cmd.AddValue("until", "s", until);
    cmd.AddValue("mark_above", "bytes that queue", markAbove);
    cmd.AddValue("options", "the controller's: beta=0.5,target=8e-6", options);
    cmd.Parse(argc, argv);

    const double wire = segment + OVERHEAD;
    const double baseRtt = 4 * delay + 2 * 8 * (wire + OVERHEAD) / rate;
    const DataRate line(static_cast<uint64_t>(rate));
    Config::SetDefault("ns3::TestbedCc::Options", StringValue(options));
    Config::SetDefault("ns3::TestbedCc::LineRate", DataRateValue(line));
    Config::SetDefault("ns3::TestbedCc::BaseRtt", TimeValue(Seconds(baseRtt)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TestbedCc::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));        // an ACK per packet, so that it tells each mark
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));   // theirs count milliseconds
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(NanoSeconds(1)));
    Config::SetDefault("ns3::TcpSocketState::MaxPacingRate", DataRateValue(line));

    NodeContainer hosts(senders + 1);
    NodeContainer hub(1);
    InternetStackHelper internet;
    internet.Install(hosts);
    internet.Install(hub);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(line));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    TrafficControlHelper fifo;
    fifo.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100000p"));
    TrafficControlHelper red; // on what queues now: a step
    red.SetRootQueueDisc("ns3::RedQueueDisc",
                         "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, buffer)),
                         "MinTh", DoubleValue(markAbove),
                         "MaxTh", DoubleValue(markAbove + 1),
                         "QW", DoubleValue(1),
                         "LInterm", DoubleValue(1),
                         "Gentle", BooleanValue(false),
                         "UseEcn", BooleanValue(true),
                         "UseHardDrop", BooleanValue(false),
                         "MeanPktSize", UintegerValue(segment),
                         "LinkBandwidth", DataRateValue(line),
                         "LinkDelay", TimeValue(Seconds(delay)));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    Ptr<QueueDisc> port;
    Ipv4Address receiver;
    for (uint32_t i = 0; i <= senders; i++)
    {
        const NetDeviceContainer ends = link.Install(hosts.Get(i), hub.Get(0));

        fifo.Install(ends.Get(0));
        if (i == senders)
            port = red.Install(ends.Get(1)).Get(0);
        else
            fifo.Install(ends.Get(1));
        receiver = addresses.Assign(ends).GetAddress(0);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < senders; i++)
    {
        const uint16_t number = 5000 + i;
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(receiver, number));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), number));

        source.SetAttribute("MaxBytes", UintegerValue(size));
        source.SetAttribute("SendSize", UintegerValue(segment));
        source.Install(hosts.Get(i)).Start(Time(0));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(hosts.Get(senders)).Get(0)));
    }
    Watch watch(port, sinks, size);
    Simulator::Schedule(Seconds(until / 5), &Watch::Sample, &watch);
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    watch.Tell(rate, until * 4 / 5, segment);
    std::cout << "base RTT " << baseRtt * 1e6 << " us, lost " << port->GetStats().nTotalDroppedPackets << "\n";
    Simulator::Destroy();
    return 0;
}
