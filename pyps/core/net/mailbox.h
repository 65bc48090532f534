// Collects the messages of a node's channel for each receiver. Items of one kind share a message, and so may come
// before items of other kinds that were given earlier; but what is about one key comes in the order in which it was
// given, and nothing overtakes an answer.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "net/key_filter.h"
#include "net/outbound.h"
#include "net/peer.h"
#include "protocol/ports.h"
#include "wire/backups.h"
#include "wire/moves.h"
#include "wire/numbers.h"
#include "wire/operations.h"
#include "wire/replicas.h"

namespace ps {

class Mailbox : public Post {
public:
    using Landed = std::function<void(uint64_t waiter, NodeId lost_with)>; // no_node: the key has come

    // `landed` is called for each key that a worker asked to localize, when it has come or is lost.
    Mailbox(const Segment &segment, uint32_t channel, Outbound &outbound, Landed landed);

    const FrameHeader &header() const { return header_; } // of this channel's messages in the current epoch

    void send(NodeId to, Key key, const Request &message, bool from_home) override;
    void send(NodeId to, Key key, const Want &message, bool from_home) override;
    void send(NodeId to, Key key, const Delta &message, bool from_home) override;
    void send(NodeId to, Key key, const Refresh &message) override;
    void send(NodeId to, Key key, const Ended &message) override;
    void send(NodeId to, Key key, const Recall &message) override;
    void send(NodeId to, Key key, const Localize &message) override;
    void send(NodeId to, Key key, const Relocate &message) override;
    void send(NodeId to, Key key, const Transfer &message) override;
    void send(NodeId to, Moves &&message) override;
    void send(NodeId to, Key key, const Holds &message) override;
    void send(NodeId to, Key key, const Gone &message) override;
    void send(NodeId to, Key key, const Backup &message) override;
    void send(NodeId to, Key key, const Backed &message) override;
    void send(NodeId to, Key key, const TakeOver &message) override;
    // The next four are sent at once, behind what was sent before.
    void send(NodeId to, const BackupRun &message) override;
    void send(NodeId to, const BackedRun &message) override;
    void send(NodeId to, const Offer &message) override;
    void tell(NodeId to, News news) override;
    void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) override;
    void answer(const Origin &origin, const std::vector<uint32_t> &positions) override;
    bool takes_refreshes(NodeId to) const override { return rounds_[to].taken == rounds_[to].sent; }
    void landed(uint64_t waiter, Key key) override;
    void refuse(const Origin &origin, Key key, NodeId lost_with) override;
    void gone(uint64_t waiter, Key key, NodeId lost_with) override;

    // While it does `what` for many keys, answers that come after a Refresh wait until its end, so that those of
    // several keys share a message, and so do their Refreshes.
    template <class What>
    void answer_together(What &&what) {
        answers_together_ = true;
        try {
            what();
        } catch (...) {
            give_late_answers();
            throw;
        }
        give_late_answers();
    }

    void answer_whole(const AnswerBatch &batch); // to a worker; sent at once
    void answer_whole(NodeId node, uint32_t worker, Message &&message); // the same, already written as a message
    Message message(size_t bytes) { return outbound_.message(bytes); } // memory to write such an answer in
    // Sent at once: another node's answer to a worker of this node.
    void pass_on(const AnswerBatch &batch, Bytes message);
    void flush();
    size_t end_round(); // ask all nodes that were sent something to say when they have taken it in; how many these are
    void taken(NodeId node, uint64_t round); // a node has taken in everything up to this round
    bool is_silent() const; // all nodes have taken in everything that was sent to them
    void begin_epoch(uint32_t epoch); // messages that are flushed from now on belong to it

private:
    using Batch = std::variant<RequestBatch, AnswerBatch, LocalizeBatch, RelocateBatch, TransferBatch, WantBatch,
                               DeltaBatch, RefreshBatch, EndedBatch, RecallBatch, MovesBatch, HoldsBatch, GoneBatch,
                               BackupBatch, BackedBatch, TakeOverBatch>;

    struct Outgoing {
        Batch batch;
        uint64_t bytes = 0;
        KeyFilter keys = {};
    };

    void give_late_answers();
    void send_at_once(NodeId to, Bytes message);
    template <class Kind, class Fits>
    Kind &last(NodeId to, Key key, uint64_t bytes, Fits &&fits);
    template <class Kind, class Fits>
    Kind &last_of(NodeId to, const Key *keys, size_t num_keys, uint64_t bytes, Fits &&fits);
    AnswerBatch &last_answer(const Origin &origin, NodeId lost_with, uint64_t value_bytes);
    static void address(AnswerBatch &batch, const Origin &origin);
    static void add_answer(AnswerBatch &batch, const Origin &origin, const Bytes &value);

    Header &counters_;
    StoreShape shape_;
    FrameHeader header_;
    Outbound &outbound_;
    Landed landed_;
    struct Rounds {
        uint64_t sent = 0, taken = 0;
        bool is_used = false; // something was sent since the last round
    };
    std::vector<Rounds> rounds_; // by node
    std::vector<std::deque<Outgoing>> outgoing_; // by node
    struct Late {
        Origin origin;
        Key key;
        Bytes value;
    };
    bool answers_together_ = false;
    std::vector<Late> late_; // answers that wait, in their order
    // By the worker's node, worker, operation, and the node with which the keys were lost.
    std::map<std::tuple<NodeId, uint32_t, uint64_t, NodeId>, std::vector<AnswerBatch>> answers_;
};

} // namespace ps
