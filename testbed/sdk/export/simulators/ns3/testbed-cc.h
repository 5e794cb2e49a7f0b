// SPDX-License-Identifier: Apache-2.0
//
// Congestion control of ns-3's TCP by a controller of testbed_cc.h: acknowledgements, RTTs, ECN echoes, recoveries,
// timeouts. A packet is a segment of TCP with what stands around it on the wire.
#ifndef TESTBED_CC_NS3_H
#define TESTBED_CC_NS3_H

#include "cc_flow.hpp"

#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"

#include <memory>

namespace ns3
{

class TestbedCc : public TcpCongestionOps
{
  public:
    static TypeId GetTypeId();

    TestbedCc() = default;
    TestbedCc(const TestbedCc& other);
    ~TestbedCc() override;

    std::string GetName() const override;
    void Init(Ptr<TcpSocketState> tcb) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCongState_t state) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& rc,
                     const TcpRateOps::TcpRateSample& rs) override;
    Ptr<TcpCongestionOps> Fork() override;

  private:
    void SetOptions(std::string text);
    std::string GetOptions() const;
    void Start(TcpSocketState& tcb);
    void Sent(SequenceNumber32 before, SequenceNumber32 now);
    void Due();
    void Apply();

    CcOptions m_options;
    std::string m_text;                // the options that were set
    DataRate m_lineRate;               // attributes of a path
    Time m_baseRtt;
    uint32_t m_hops{1}, m_overhead{42};
    std::unique_ptr<CcFlow> m_flow;    // from its first packet on
    TcpSocketState* m_tcb{nullptr};    // the socket has both
    int64_t m_segment{0}, m_wire{0};
    SequenceNumber32 m_first;          // number of its first byte
    EventId m_timer;
    double m_due{CcFlow::infinity()};
};

} // namespace ns3

#endif
