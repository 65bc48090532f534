// A barrier across nodes: one node's part in it. Each node tells the host, the lowest node that is not lost, how it
// stands at the next round; the host opens the gate when every node has arrived or has nobody who could. Who takes back
// that he has arrived knows only from the host's answer whether that was in time.
//
// Free of input, output, clocks and threads, as all of the protocol. Messages between two nodes keep their order; where
// a broken connection has lost some, `repeat` makes up for it.
#pragma once

#include <vector>

#include "messages.h"

namespace ps {

// arrived: all workers that are expected here came. away: one has not. empty: no worker is here, wait for the others
// alone.
enum class Attendance : uint16_t { away, arrived, empty };

// To the host: how its sender stands at a round. The serial grows with each.
struct Attend {
    uint64_t round; // from 1
    uint32_t serial;
    Attendance attendance;
};

// From the host: so many rounds are over; whether a node has arrived at the next one; what it heard last of the
// addressee.
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

    void attend(Attendance attendance); // of this node at the next round; nothing happens unless it changed
    void receive(NodeId from, const Attend &message);
    void receive(NodeId from, const Opened &message);
    void lose(NodeId node); // it is not waited for from now on
    void repeat(); // say again what the host was told last

    uint64_t rounds() const { return rounds_; } // that are over
    bool is_called() const { return called_ || told_ == Attendance::arrived; } // a worker of some node waits
    bool is_away() const { return told_ == Attendance::away && heard_ == serial_; } // and the host knows it

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
    uint32_t serial_ = 0, heard_ = 0; // of what the host was told last; that it is known to have heard
    bool called_ = false;
    std::vector<bool> lost_;
    std::vector<Attendance> attendances_; // at the next round, as the host knows them
    std::vector<uint32_t> serials_;
};

} // namespace ps
