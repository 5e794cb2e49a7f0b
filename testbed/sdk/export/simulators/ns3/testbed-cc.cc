// SPDX-License-Identifier: Apache-2.0
#include "testbed-cc.h"

#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TestbedCc);

static const double MOST = 1 << 30; // bytes of a window, which ns-3 keeps in 32 bits

TypeId
TestbedCc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TestbedCc")
            .SetParent<TcpCongestionOps>()
            .AddConstructor<TestbedCc>()
            .AddAttribute("Options",
                          "The controller's, by name in SI units: 'beta=0.5,target=8e-6'.",
                          StringValue(""),
                          MakeStringAccessor(&TestbedCc::SetOptions, &TestbedCc::GetOptions),
                          MakeStringChecker())
            .AddAttribute("LineRate",
                          "Of the sender's NIC.",
                          DataRateValue(DataRate("100Gbps")),
                          MakeDataRateAccessor(&TestbedCc::m_lineRate),
                          MakeDataRateChecker())
            .AddAttribute("BaseRtt",
                          "Round trip of a full packet through empty queues.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&TestbedCc::m_baseRtt),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Hops",
                          "Switches on the way.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TestbedCc::m_hops),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Overhead",
                          "Bytes of a full packet on the wire that are not of its segment.",
                          UintegerValue(42), // TCP, IP, PPP
                          MakeUintegerAccessor(&TestbedCc::m_overhead),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

TestbedCc::TestbedCc(const TestbedCc& other)
    : TcpCongestionOps(other),
      m_lineRate(other.m_lineRate),
      m_baseRtt(other.m_baseRtt),
      m_hops(other.m_hops),
      m_overhead(other.m_overhead)
{
    SetOptions(other.m_text);
}

TestbedCc::~TestbedCc()
{
    m_timer.Cancel();
}

std::string
TestbedCc::GetName() const
{
    return cc_library.controller->name ? cc_library.controller->name : "TestbedCc";
}

void
TestbedCc::SetOptions(std::string text)
{
    std::istringstream each(text);
    std::string one;

    m_text = text;
    while (std::getline(each, one, ','))
        m_options.set(one);
}

std::string
TestbedCc::GetOptions() const
{
    return m_text;
}

void
TestbedCc::Init(Ptr<TcpSocketState> tcb)
{
    tcb->m_pacing = tcb->m_paceInitialWindow = true;
    tcb->m_useEcn = TcpSocketState::On;
    tcb->m_ecnMode = TcpSocketState::DctcpEcn; // an echo per mark
}

bool
TestbedCc::HasCongControl() const
{
    return true;
}

uint32_t
TestbedCc::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t)
{
    return tcb->m_cWnd; // only the controller cuts it
}

void
TestbedCc::CwndEvent(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCAEvent_t event)
{
    if (event == TcpSocketState::CA_EVENT_TX_START && !m_flow)
        Start(*tcb);
    if (event == TcpSocketState::CA_EVENT_ECN_NO_CE && tcb->m_ecnState != TcpSocketState::ECN_ECE_RCVD)
        tcb->m_ecnState = TcpSocketState::ECN_IDLE; // a receiver echoes each mark once
}

void
TestbedCc::Start(TcpSocketState& tcb)
{
    cc_path path;

    m_tcb = &tcb;
    m_first = tcb.m_nextTxSequence;
    m_segment = tcb.m_segmentSize;
    m_wire = m_segment + m_overhead;
    path.line_rate = static_cast<double>(m_lineRate.GetBitRate());
    path.base_rtt = path.longest_rtt = m_baseRtt.GetSeconds();
    path.bdp = path.line_rate * path.base_rtt / 8;
    path.hops = m_hops;
    path.payload = m_segment;
    path.wire_size = m_wire;
    m_flow = std::make_unique<CcFlow>(m_options, path);
    m_flow->start(Simulator::Now().GetSeconds());
    if (CcFlow::wants(CC_TX))
        tcb.m_highTxMark.ConnectWithoutContext(MakeCallback(&TestbedCc::Sent, this));
    Apply();
}

void
TestbedCc::Sent(SequenceNumber32 before, SequenceNumber32 now)
{
    const int64_t packets = ((now - before) + m_segment - 1) / m_segment;

    m_flow->sent(Simulator::Now().GetSeconds(), packets * m_wire);
    Apply();
}

void
TestbedCc::CongestionStateSet(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCongState_t state)
{
    const double now = Simulator::Now().GetSeconds();

    if (!m_flow)
        return;
    if (state == TcpSocketState::CA_RECOVERY)
        m_flow->lost(now, 1); // TCP tells of a recovery, not of each packet
    else if (state == TcpSocketState::CA_LOSS)
        m_flow->timeout(now, tcb->m_bytesInFlight.Get() / m_segment);
    else
        return;
    Apply();
}

void
TestbedCc::CongControl(Ptr<TcpSocketState> tcb,
                       const TcpRateOps::TcpRateConnection&,
                       const TcpRateOps::TcpRateSample&)
{
    const int64_t packets = (tcb->m_lastAckedSackedBytes + m_segment - 1) / (m_segment ? m_segment : 1);
    cc_ack ack;

    if (!m_flow)
        return;
    if (packets > 0)
    {
        ack.now = Simulator::Now().GetSeconds();
        ack.packets = packets;
        ack.bytes = packets * m_wire;
        ack.seq = (tcb->m_lastAckedSeq - m_first) / m_segment - 1;
        ack.next_seq = (tcb->m_nextTxSequence.Get() - m_first) / m_segment;
        ack.inflight = tcb->m_bytesInFlight.Get() / m_segment * m_wire;
        ack.rtt = tcb->m_lastRtt.Get().GetSeconds();
        ack.ce_packets = tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD ? packets : 0;
        ack.inc_packets = 0;
        ack.hop_count = 0;
        m_flow->acked(ack);
    }
    Apply(); // also where TCP has set a window of its own
}

void
TestbedCc::Due()
{
    m_due = CcFlow::infinity();
    m_flow->timer(Simulator::Now().GetSeconds());
    Apply();
}

// What was decided, as TCP counts it: without headers.
void
TestbedCc::Apply()
{
    const double packets = std::max(1.0, std::floor(m_flow->window() / static_cast<double>(m_wire)));
    const double share = static_cast<double>(m_segment) / static_cast<double>(m_wire);
    const double due = m_flow->next_timer();

    m_tcb->m_cWnd = static_cast<uint32_t>(std::min(packets * static_cast<double>(m_segment), MOST));
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    m_tcb->m_pacingRate = DataRate(static_cast<uint64_t>(std::max(1.0, m_flow->rate() * share)));
    if (due == m_due)
        return;
    m_due = due;
    m_timer.Cancel();
    if (!std::isinf(due))
        m_timer = Simulator::Schedule(std::max(Seconds(due) - Simulator::Now(), Time(0)), &TestbedCc::Due, this);
}

Ptr<TcpCongestionOps>
TestbedCc::Fork()
{
    return CopyObject<TestbedCc>(this);
}

} // namespace ns3
