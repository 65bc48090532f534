// Takes the messages about a channel's keys, whose sender is known. It checks each message as a whole, keeps those that
// came too early, and passes the others to the part of the channel that they are for.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "protocol/intents.h"
#include "server/epoch_change.h"
#include "server/intent_choice.h"
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
    std::optional<IntentChoice> &choice; // of the first channel, if nodes choose
};

class ChannelInbox {
public:
    explicit ChannelInbox(const ChannelParts &to)
        : to_(to), shape_(to.segment), senders_(to.segment.header(), to.protocol.home_rule()) {}

    // Take a message. `peer`: the name of the connection that it came on; `sender`: the end that has it.
    void take(const std::string &peer, const Sender &sender, const char *bytes, uint64_t size);
    void take_held_back(); // takes the messages again that came too early; call it when something has changed
    void retry_parked(); // tries the protocol's parked steps again, and then the messages that wait behind them
    void note_intents(); // counts the intents for the node's statistics
    bool is_anything_parked() const { return !to_.protocol.parked().empty() || !behind_.empty(); }

private:
    struct Message {
        const std::string &peer;
        const Sender &sender;
        const FrameHeader &header;
        FrameReader &reader;
    };

    // A message that waits until its epoch is settled, or until its sender's earlier messages are done.
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
    Batch decode(const Message &message) const; // and check that this sender may send it
    template <class Batch, class Each>
    void take_keys(const Message &message, Each &&take); // decodes the message and calls take(batch, i) for each key
    template <class Batch>
    Batch decode_from_node(const Message &message) const; // the same for a message that any node may send

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
    void take_recall(const Message &message);
    void take_intent(const Message &message);
    void take_holds(const Message &message);
    void take_gone(const Message &message);
    void take_settle(const Message &message);
    void take_round(const Message &message);
    void take_taken(const Message &message);
    void take_moves(const Message &message);
    void take_backup(const Message &message);
    void take_backed(const Message &message);
    void take_backup_run(const Message &message);
    void take_backed_run(const Message &message);
    void take_take_over(const Message &message);
    void take_news(const Message &message);
    void take_offer(const Message &message);
    void take_trial(const Message &message);

    ChannelParts to_;
    StoreShape shape_;
    Senders senders_;
    std::deque<HeldBack> held_;
    std::deque<HeldBack> behind_; // messages that wait behind parked steps of the same sender
    uint64_t active_ = 0, waiting_ = 0; // how many intents were counted last
};

} // namespace ps
