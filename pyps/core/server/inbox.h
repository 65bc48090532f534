// Receives the messages to a node's server. Those about keys go to the keys' channel, all others to the part of the
// server that they are for. Belongs to the server's own thread.
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"
#include "net/vigil.h"
#include "server/channels.h"
#include "server/farewells.h"
#include "server/gates.h"
#include "server/senders.h"
#include "server/tuning.h"
#include "tables/tables.h"

namespace ps {

// The parts of a server that messages are for.
struct Receivers {
    Segment &segment;
    NodeTransport &transport;
    Channels &channels;
    Gates &gates;
    Farewells &farewells;
    Tuning &tuning;
    Tables *tables; // null: the node can have none
    std::unique_ptr<Vigil> &vigil; // set before the first message is taken
};

class Inbox {
public:
    explicit Inbox(const Receivers &to) : to_(to), shape_(to.segment) {}

    bool receive(); // receives at most one message; false if there was none

private:
    struct Message {
        const Sender &sender;
        const FrameHeader &header;
        FrameReader &reader;
    };

    using Take = void (Inbox::*)(const Message &message);
    struct Row {
        Kind kind;
        Take take;
    };
    static const Row rows[];

    void take(std::string peer, ps::Message &frame);
    void require_bare(const Message &message) const; // a header without anything behind it, from a node

    void take_hello(const Message &message);
    void take_alive(const Message &message);
    void take_epoch(const Message &message);
    void take_lost(const Message &message);
    void take_noted(const Message &message);
    void take_attend(const Message &message);
    void take_opened(const Message &message);
    void take_left(const Message &message);
    void take_settings(const Message &message);
    void take_board(const Message &message);
    void take_join(const Message &message);
    void take_introduction(const Message &message);
    void meet(NodeId node, const std::string &endpoint); // throws Malformed; does nothing if they have met

    Receivers to_;
    StoreShape shape_;
};

} // namespace ps
