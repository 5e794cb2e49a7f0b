-- SPDX-License-Identifier: Apache-2.0
--
-- For Wireshark and tshark: what the testbed's packets carry behind RoCEv2's own headers, which Wireshark knows: the shim and INT
-- (testbed/dataplane/wire.h). `testbed decode --lua` prints this file; tshark -X lua_script:FILE, or put it into Wireshark's folder of
-- plugins. Fields begin with "testbed."; times are ns of wall time, rates kbit/s, both as they are in the packet.

local testbed = Proto("testbed", "Testbed shim and INT")

local LAST_DATA, ACK, SRC, CREDIT = 0x0b, 0x11, 0xc0, 0xc1
local ANSWERS = { [0x1f] = "ack", [0x60] = "nak", [0x65] = "trimmed" }
local BTH, SLOT, RETH, SHIM, INT_HEADER, HOP, ICRC = 12, 4, 16, 16, 16, 28, 4

local f = testbed.fields
f.departure = ProtoField.uint64("testbed.departure", "Departure (ns)")
f.frame = ProtoField.uint16("testbed.frame", "Bytes of the frame")
f.payload = ProtoField.uint16("testbed.payload", "Bytes of user data")
f.trimmed = ProtoField.bool("testbed.trimmed", "Trimmed: only headers are left")
f.ttl = ProtoField.uint8("testbed.ttl", "TTL with which the data packet arrived")
f.flags = ProtoField.uint8("testbed.flags", "Flags", base.HEX)
local FLAGS = { "int", "ce", "src", "first", "last", "inc", "dec", "again" }
for bit, name in ipairs(FLAGS) do
    f["flag_" .. name] = ProtoField.bool("testbed.flags." .. name, name:upper(), 8, nil, 2 ^ (bit - 1))
end
f.ingress = ProtoField.uint16("testbed.ingress", "Interface at which it came into its switch")
f.entropy = ProtoField.uint16("testbed.entropy", "Entropy", base.DEC, nil, 0x3fff)
f.asked = ProtoField.uint32("testbed.asked", "Packets that it asks for (17 bits)")
f.starved = ProtoField.bool("testbed.starved", "Asks to be told again")
f.answer = ProtoField.string("testbed.answer", "Answer")
f.granted = ProtoField.uint32("testbed.granted", "Packets granted so far (24 bits)")
f.remaining = ProtoField.uint8("testbed.int.remaining", "INT records that are empty")
f.switch = ProtoField.uint16("testbed.int.switch", "Switch")
f.port = ProtoField.uint16("testbed.int.port", "Port")
f.queue = ProtoField.uint32("testbed.int.queue", "Queue (bytes)")
f.time = ProtoField.uint64("testbed.int.time", "Time (ns)")
f.sent = ProtoField.uint64("testbed.int.tx_bytes", "Bytes sent by the port")
f.rate = ProtoField.uint32("testbed.int.rate", "Rate (kbit/s)")

local opcode_field = Field.new("infiniband.bth.opcode")

-- An RETH is in front of the slot that ImmDt or AETH have: of a message's first packet of RDMA WRITE.
local function before_slot(opcode)
    return (opcode == 0x06 or opcode == 0x0b) and BTH + RETH or BTH
end

local function add_hops(tree, int)
    local header = int(0, INT_HEADER)
    local reserved = math.floor((4 * header(1, 1):uint() - (INT_HEADER - 4)) / HOP)
    local remaining = header(7, 1):uint()
    local branch = tree:add(testbed, int, "INT-MD")
    branch:add(f.remaining, header(7, 1))
    for hop = 0, reserved - remaining - 1 do
        if INT_HEADER + (hop + 1) * HOP > int:len() then
            return
        end
        local record = int(INT_HEADER + hop * HOP, HOP)
        local one = branch:add(testbed, record, "Hop " .. hop + 1)
        one:add(f.switch, record(0, 2))
        one:add(f.port, record(2, 2))
        one:add(f.queue, record(4, 4))
        one:add(f.time, record(8, 8))
        one:add(f.sent, record(16, 8))
        one:add(f.rate, record(24, 4))
    end
end

local function add_shim(tree, shim, opcode, length)
    tree:add(f.departure, shim(0, 8))
    tree:add(f.frame, shim(8, 2))
    tree:add(f.payload, shim(10, 2))
    if opcode <= LAST_DATA then
        tree:add(f.trimmed, shim(10, 2), shim(10, 2):uint() > length)
    end
    tree:add(f.ttl, shim(12, 1))
    local flags = tree:add(f.flags, shim(13, 1))
    for _, name in ipairs(FLAGS) do
        flags:add(f["flag_" .. name], shim(13, 1))
    end
    tree:add(f.ingress, shim(14, 2))
end

local function add_slot(tree, slot, opcode)
    if opcode == ACK then
        tree:add(f.answer, slot(0, 1), ANSWERS[slot(0, 1):uint()] or "?")
    elseif opcode <= LAST_DATA then
        local asked = math.floor(slot:uint() / 2 ^ 14)
        tree:add(f.entropy, slot(2, 2))
        tree:add(f.asked, slot(0, 3), asked % 2 ^ 17)
        tree:add(f.starved, slot(0, 1), asked >= 2 ^ 17)
    end
end

function testbed.dissector(buffer, _, tree)
    local found = opcode_field()
    if not found then
        return
    end
    local opcode = found.range(0, 1):uint()
    local start = found.offset
    if opcode > LAST_DATA and opcode ~= ACK and opcode ~= SRC and opcode ~= CREDIT then
        return
    end
    local branch = tree:add(testbed, buffer(start))
    if opcode == CREDIT then
        branch:add(f.granted, buffer(start + 9, 3))
        return
    end
    local slot = start + before_slot(opcode)
    local shim = slot + SLOT
    if buffer:len() < shim + SHIM then
        return
    end
    add_slot(branch, buffer(slot, SLOT), opcode)
    add_shim(branch, buffer(shim, SHIM), opcode, buffer:reported_len() - shim - SHIM - ICRC)
    local has_int = buffer(shim + 13, 1):uint() % 2 == 1
    if has_int and buffer:len() >= shim + SHIM + INT_HEADER then
        add_hops(branch, buffer(shim + SHIM))
    end
end

register_postdissector(testbed)
