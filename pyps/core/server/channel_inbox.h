// What comes to a channel: messages about its keys, whose sender is known. Each is checked as a whole; one that came
// too early waits; then it goes to the part of the channel that it is for.
#pragma once

#include <deque>
#include <string>

#include "protocol/intents.h"
#include "server/epoch_change.h"
#include "server/senders.h"
#include "server/serving.h"
#include "server/settling.h"

namespace ps {

// The parts of a channel that messages are for.
struct ChannelParts {
    Segment &segment;
    Outbound &outbound;
    Mailbox &mailbox;
    Protocol &protocol;
    Serving &serving;
    EpochChange &epoch_change;
    Settling &settling;
    Intents &intents;
};

class ChannelInbox {
public:
    explicit ChannelInbox(const ChannelParts &to)
        : to_(to), shape_(to.segment), senders_(to.segment.header(), to.protocol.home_rule()) {}

    // A message, by the name of the connection that it came on, and whose that is.
    void take(const std::string &peer, const Sender &sender, const char *bytes, uint64_t size);
    void take_held_back(); // what was too early, after something has happened
    void retry_parked(); // steps of the protocol that had to wait for a worker, and messages behind them
    void note_intents(); // for statistics
    bool is_anything_parked() const { return !to_.protocol.parked().empty() || !behind_.empty(); }

private:
    struct Message {
        const std::string &peer;
        const Sender &sender;
        const FrameHeader &header;
        FrameReader &reader;
    };

    // A message that waits: until the epoch it belongs to is settled, or for what its sender said before.
    struct HeldBack {
        std::string peer;
        Sender sender;
        Bytes bytes;
    };

    using Take = void (ChannelInbox::*)(const Message &message);
    struct Row {
        Kind kind;
        Take take;
    };
    static const Row rows[];

    void take_checked(const std::string &peer, const Sender &sender, const char *bytes, uint64_t size);
    void take_again(std::deque<HeldBack> *messages);
    void take_late(const Message &message);
    static Take taker_of(Kind kind);

    template <class Batch>
    Batch decode(const Message &message) const; // and check that it may come from there
    template <class Batch, class Each>
    void take_keys(const Message &message, Each &&take); // `take(batch, i)` for each key of what it decodes
    template <class Batch>
    Batch decode_from_node(const Message &message) const; // the same of what any node may say

    void take_hello(const Message &message);
    void take_request(const Message &message);
    void take_answer(const Message &message);
    void take_localize(const Message &message);
    void take_relocate(const Message &message);
    void take_transfer(const Message &message);
    void take_want(const Message &message);
    void take_delta(const Message &message);
    void take_refresh(const Message &message);
    void take_ended(const Message &message);
    void take_intent(const Message &message);
    void take_holds(const Message &message);
    void take_gone(const Message &message);
    void take_settle(const Message &message);
    void take_round(const Message &message);
    void take_taken(const Message &message);
    void take_moves(const Message &message);

    ChannelParts to_;
    StoreShape shape_;
    Senders senders_;
    std::deque<HeldBack> held_;
    std::deque<HeldBack> behind_; // parked steps of what their senders said before
    uint64_t active_ = 0, waiting_ = 0; // intents, as noted last
};

} // namespace ps
