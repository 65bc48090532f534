// A barrier across nodes: one node's part in it. Each node tells the host, which is the lowest node that is not lost,
// how it stands at the next round. The host opens the gate when every node has arrived, or has no worker that could. A
// node that takes back its arrival learns only from the host's answer whether the round was over before.
//
// It has no I/O, clock or threads, like the whole protocol. Messages between two nodes keep their order; if a broken
// connection has lost some, `repeat` makes up for it.
#pragma once

#include <vector>

#include "messages.h"

namespace ps {

// away: not all expected workers of this node have arrived. arrived: they have. empty: no worker is here, so the
// barrier waits for the other nodes only.
enum class Attendance : uint16_t { away, arrived, empty };

// To the host: how its sender stands at a round. The serial counts the sender's messages.
struct Attend {
    uint64_t round; // from 1
    uint32_t serial;
    Attendance attendance;
};

// From the host: how many rounds are over, the serial of the last message that the host had from the receiver, and
// whether any node has arrived at the next round.
struct Opened {
    uint64_t rounds;
    uint32_t serial;
    bool is_called;
};

class Gate {
public:
    class Post {
    public:
        virtual ~Post() = default;
        virtual void send(NodeId to, const Attend &message) = 0;
        virtual void send(NodeId to, const Opened &message) = 0;
    };

    Gate(NodeId self, NodeId nodes, Post &post);

    void attend(Attendance attendance); // how this node stands at the next round; does nothing if that has not changed
    void receive(NodeId from, const Attend &message);
    void receive(NodeId from, const Opened &message);
    void lose(NodeId node); // from now on nothing waits for it
    void join(NodeId node); // that was lost for this one until now: from now on rounds wait for it
    void repeat(); // send the host once more what it was told last

    uint64_t rounds() const { return rounds_; } // how many are over
    // Whether a worker of any node waits for the next round.
    bool is_called() const { return called_ || told_ == Attendance::arrived; }
    // Whether this node has not arrived, and the host knows that.
    bool is_away() const { return told_ == Attendance::away && heard_ == serial_; }

private:
    bool is_host() const { return host_ == self_; }
    void tell();
    void begin_round(uint64_t rounds);
    void consider();
    void open_to(NodeId node);
    void open_to_all();

    const NodeId self_;
    Post &post_;
    NodeId host_ = 0;
    uint64_t rounds_ = 0;
    Attendance told_ = Attendance::away;
    // The serial of the last message to the host; and of the last one that the host is known to have received.
    uint32_t serial_ = 0, heard_ = 0;
    bool called_ = false;
    std::vector<bool> lost_;
    std::vector<Attendance> attendances_; // of each node at the next round, as the host knows them
    std::vector<uint32_t> serials_;
};

} // namespace ps
