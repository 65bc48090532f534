// Gathers what a channel of a node has to send, by receiver. Each receiver gets everything in the order in which it was
// given; consecutive items of one kind share a message.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <variant>

#include "net/outbound.h"
#include "net/peer.h"
#include "protocol/ports.h"
#include "wire/moves.h"
#include "wire/operations.h"
#include "wire/replicas.h"

namespace ps {

class Mailbox : public Post {
public:
    using Landed = std::function<void(uint64_t waiter, NodeId lost_with)>; // no_node: it is here

    // `landed` is told of keys that were to be localized.
    Mailbox(const Segment &segment, uint32_t channel, Outbound &outbound, Landed landed);

    const FrameHeader &header() const { return header_; } // of the channel's messages in this epoch

    void send(NodeId to, Key key, const Request &message, bool from_home) override;
    void send(NodeId to, Key key, const Want &message, bool from_home) override;
    void send(NodeId to, Key key, const Delta &message, bool from_home) override;
    void send(NodeId to, Key key, const Refresh &message) override;
    void send(NodeId to, Key key, const Ended &message) override;
    void send(NodeId to, Key key, const Localize &message) override;
    void send(NodeId to, Key key, const Relocate &message) override;
    void send(NodeId to, Key key, const Transfer &message) override;
    void send(NodeId to, Moves &&message) override;
    void send(NodeId to, Key key, const Holds &message) override;
    void send(NodeId to, Key key, const Gone &message) override;
    void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) override;
    bool takes_refreshes(NodeId to) const override { return rounds_[to].taken == rounds_[to].sent; }
    void landed(uint64_t waiter, Key key) override;
    void refuse(const Origin &origin, Key key, NodeId lost_with) override;
    void gone(uint64_t waiter, Key key, NodeId lost_with) override;

    void answer_whole(const AnswerBatch &batch); // to a worker, now
    void answer_whole(NodeId node, uint32_t worker, Message &&message); // the same, already written as a message
    Message message(size_t bytes) { return outbound_.message(bytes); } // in which to write such an answer
    void pass_on(const AnswerBatch &batch, Bytes message); // now; another node's answer to a worker of this one
    void flush();
    void end_round(); // ask every node that was sent something to say when it has taken that
    void taken(NodeId node, uint64_t round); // it did
    bool is_silent() const; // everything that was sent was taken
    void begin_epoch(uint32_t epoch); // what is flushed from now on belongs to it

private:
    using Batch = std::variant<RequestBatch, AnswerBatch, LocalizeBatch, RelocateBatch, TransferBatch, WantBatch,
                               DeltaBatch, RefreshBatch, EndedBatch, MovesBatch, HoldsBatch, GoneBatch>;

    struct Outgoing {
        Batch batch;
        uint64_t bytes = 0;
    };

    template <class Kind, class Fits>
    Kind &last(NodeId to, uint64_t bytes, Fits &&fits);
    AnswerBatch &last_answer(const Origin &origin, NodeId lost_with, uint64_t value_bytes);
    static void add_answer(AnswerBatch &batch, const Origin &origin, const Bytes &value);

    Header &counters_;
    StoreShape shape_;
    FrameHeader header_;
    Outbound &outbound_;
    Landed landed_;
    struct Rounds {
        uint64_t sent = 0, taken = 0;
        bool is_used = false; // something was sent since the last one
    };
    std::vector<Rounds> rounds_; // by node
    std::vector<std::deque<Outgoing>> outgoing_; // by node
    // By worker, operation, loss.
    std::map<std::tuple<NodeId, uint32_t, uint64_t, NodeId>, std::vector<AnswerBatch>> answers_;
};

} // namespace ps
