// A node's vigil: a thread that notices when other nodes are lost, and writes it into the shared memory.
//
// It has a link to every other node: a connection of its own with heartbeats, which the transports answer by
// themselves. So a node counts as alive while its process runs, whatever its server waits for and however many messages
// are queued for it. An idle node does nothing but this. When a process is killed, its links break at once. The vigil
// also watches the connections of the server.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

#include "membership/membership.h"
#include "net/peer.h"
#include "net/transport.h"
#include "segment/doorbell.h"

namespace ps {

class Vigil : private MembershipPort {
public:
    // Starts the thread. `endpoints`: of all nodes, this one among them.
    Vigil(Segment &segment, NodeTransport &transport, const std::vector<std::string> &endpoints);
    Vigil(const Vigil &) = delete;
    Vigil &operator=(const Vigil &) = delete;
    ~Vigil() override;

    // A new epoch of the membership, for the server to begin.
    struct Epoch {
        uint32_t number;
        std::vector<NodeId> members;
    };
    std::optional<Epoch> new_epoch(); // the latest one; empty if none began since the last call

    // The server's thread receives what other vigils send, and hands it over.
    template <class Message>
    void receive(const FrameHeader &header, Message &&message) {
        deliver({header.from, header.epoch, std::forward<Message>(message)});
    }
    void left(NodeId node); // the workers know it when this returns
    void meet(NodeId node, const std::string &endpoint) { deliver({node, 0, Meet{endpoint}}); } // it may join
    void give_up() { deliver({NodeId(segment_.header().node), 0, GiveUp{}}); }

private:
    struct Left {};
    struct GiveUp {};
    struct Meet {
        std::string endpoint;
    };
    struct Note {
        NodeId from;
        uint32_t epoch;
        std::variant<Alive, Lost, Vote, Join, Introduction, Left, GiveUp, Meet> what;
    };
    void probe(NodeId node) override;
    void tell(NodeId node, const Alive &message) override;
    void tell(NodeId node, const Lost &message) override;
    void tell(NodeId node, const Vote &message) override;
    void tell(NodeId node, const Join &message) override;
    void tell(NodeId node, const Introduction &message) override;
    bool may_join() const override;
    void end(NodeId node, Evidence evidence, NodeId by) override;
    void begin(uint32_t epoch, const std::vector<NodeId> &members) override;

    void deliver(Note note);
    void run() noexcept;
    void work();
    void look_at_links(double now);
    void take(const Note &note, double now);
    void mark_lost(NodeId node, Evidence evidence, NodeId by);
    void receive(const Message &message);
    double patience(double now) const;

    Segment &segment_;
    StoreShape shape_;
    Membership membership_;
    const std::unique_ptr<Links> links_;
    std::mutex mutex_; // guards the next two
    std::deque<Note> notes_;
    std::optional<Epoch> news_;
    Doorbell wake_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace ps
