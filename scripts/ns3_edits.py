"""What scripts/ns3_fork.py inserts into the fork: our lines alone, by GNU sed, none of the fork's.

`SAMPLE` (s) in its environment prints ports so often; with `AT_ENQUEUE` marks and INT are of packets that come; with
`RULES` controllers do what docs/findings/simulators.md says.
"""

from __future__ import annotations

from textwrap import dedent

TREE = "simulator/ns-3.39"
MODEL = f"{TREE}/src/point-to-point/model"
STAMP = """\
void SwitchNode::Stamp(uint32_t port, uint32_t queue, Ptr<Packet> p) {
  const uint32_t ip_at = PppHeader::GetStaticSize();
  if (queue && m_ecnEnabled && m_mmu->ShouldSendCN(port, queue)) {
    PppHeader ppp; Ipv4Header ip;
    p->RemoveHeader(ppp); p->RemoveHeader(ip);
    ip.SetEcn(Ipv4Header::ECN_CE);
    p->AddHeader(ip); p->AddHeader(ppp);
  }
  uint8_t *bytes = p->GetBuffer();
  if (m_ccMode != 3 || bytes[ip_at + 9] != 17) return;
  Ptr<QbbNetDevice> out = DynamicCast<QbbNetDevice>(m_devices[port]);
  uint64_t sent = PowerEnabled ? out->GetQueue()->GetNBytesRxTotal() : m_txBytes[port];
  ((IntHeader *)&bytes[ip_at + 34])->PushHop(Simulator::Now().GetTimeStep(), sent,
    out->GetQueue()->GetNBytesTotal(), out->GetDataRate().GetBitRate());
}"""
EDITS = {
    f"{TREE}/examples/PowerTCP/powertcp-evaluation-burst.cc": """
        1084a if (getenv("SAMPLE")) delay = atof(getenv("SAMPLE"));
    """,
    f"{MODEL}/rdma-hw.cc": r"""
        18a static const bool RULES = getenv("RULES");
        231a if (RULES && PowerTCPdelay) qp->SetBaseRtt(baseRtt + 112); if (RULES) qp->prevCompletion = 0;
        340s/ecnbits/& \&\& (!RULES || m_cc_mode != 1 || Simulator::Now() >= rxQp->m_nextCnp)/
        340a {
        341a rxQp->m_nextCnp = Simulator::Now() + MicroSeconds(4); }
        719a DataRate old = q->m_rate;
        720a if (RULES) { DataRate wanted = q->m_rate; q->m_rate = old; ChangeRate(q, wanted); }
        1011a if (RULES && !PowerTCPdelay && !qp->hp.m_lastUpdateSeq) { qp->hp.hop[i] = ih.hop[i]; continue; }
        1096s/m_fast_react/& \&\& !(RULES \&\& PowerTCPdelay)/
        1106i double now = Simulator::Now().GetNanoSeconds();
        1106s/(\(.*\)) {/(RULES ? now >= qp->prevCompletion + qp->m_baseRtt : \1) { qp->prevCompletion = now;/
        1119s/m_tmly_minRtt/(RULES ? qp->m_baseRtt : &)/
        1138a if (RULES) c = std::max(c, 0.5);
        1140s/) {/ || (RULES \&\& rtt < m_tmly_TLow)) {/
        1149s/++/ += !RULES || rtt >= m_tmly_TLow/
        1166s/us && \(.*\)) {/us \&\& (RULES || \1)) {/
    """,
    f"{MODEL}/rdma-queue-pair.h": "145s/;/, m_nextCnp;/",
    f"{MODEL}/switch-node.h": "54a void Stamp(uint32_t port, uint32_t queue, Ptr<Packet> p);",
    f"{MODEL}/switch-node.cc": r"""
        171a if (getenv("AT_ENQUEUE")) Stamp(idx, qIndex, p);
        248s/m_ecnEnabled/& \&\& !getenv("AT_ENQUEUE")/
        263s/1/!getenv("AT_ENQUEUE")/
        235a \
    """
    + STAMP.replace("\n", "\\\n"),
}
COMMANDS = [("sed", "-i", "-e", dedent(script).strip(), path) for path, script in EDITS.items()]
