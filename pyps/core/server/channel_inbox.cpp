#include "server/channel_inbox.h"

#include <utility>

#include "counting.h"
#include "net/refusals.h"

namespace ps {

void ChannelInbox::take(const std::string &peer, const Sender &sender, const char *bytes, uint64_t size) {
    try {
        take_checked(peer, sender, bytes, size);
    } catch (const Malformed &error) {
        count_refusal(to_.segment.header(), error.what());
    } catch (const Unexpected &error) {
        count_refusal(to_.segment.header(), error.what());
    }
}

// Checks the message once more: its sender may have been lost since it came, or this node may have ended.
void ChannelInbox::take_checked(const std::string &peer, const Sender &sender, const char *bytes, uint64_t size) {
    const Header &node = to_.segment.header();
    FrameReader reader(bytes, size);
    FrameHeader header = decode_header(reader, node.cluster, shape_);
    if (!is_from_member(to_.segment, header)) {
        if (has_left(to_.segment, header.from) || may_have_left(to_.segment, header)) return;
        throw Malformed("it comes from a node that was lost");
    }
    if (is_about_keys(header.kind) && node.ended.load(std::memory_order_acquire)) return;
    bool is_for_after = header.kind == Kind::round || header.kind == Kind::answer;
    if (is_for_after && to_.protocol.parked().holds_up(header.from)) {
        behind_.push_back({peer, sender, Bytes(bytes, bytes + size)});
        return;
    }
    to_.protocol.hear_from(header.from);
    Message message{peer, sender, header, reader};
    switch (to_.epoch_change.judge(header)) {
    case Crossing::Verdict::hold: held_.push_back({peer, sender, Bytes(bytes, bytes + size)}); break;
    case Crossing::Verdict::drop: break;
    case Crossing::Verdict::take_late: take_late(message); break;
    case Crossing::Verdict::take: (this->*taker_of(header.kind))(message); break;
    }
}

void ChannelInbox::take_again(std::deque<HeldBack> *messages) {
    for (const HeldBack &message : std::exchange(*messages, {}))
        take(message.peer, message.sender, message.bytes.data(), message.bytes.size());
}

void ChannelInbox::take_held_back() { take_again(&held_); }

// Messages that must wait behind parked steps, for example answers of the same sender, are taken when no step is left.
void ChannelInbox::retry_parked() {
    to_.protocol.retry([this](const Unexpected &error) { count_refusal(to_.segment.header(), error.what()); });
    if (to_.protocol.parked().empty()) take_again(&behind_);
}

void ChannelInbox::note_intents() {
    Header &header = to_.segment.header();
    uint64_t active = to_.intents.active(), waiting = to_.intents.waiting();
    count_in(header.intents_active, int64_t(active - std::exchange(active_, active)));
    count_in(header.intents_waiting, int64_t(waiting - std::exchange(waiting_, waiting)));
}

} // namespace ps
