#include "server/inbox.h"

#include <utility>

#include "counting.h"
#include "net/refusals.h"

namespace ps {

bool Inbox::receive() {
    return to_.routers.receive([this](const ZmqMessage &peer, const ZmqMessage &frame, ZmqSocket &router) {
        take_frame(peer, frame, router);
    });
}

void Inbox::take_frame(const ZmqMessage &peer, const ZmqMessage &frame, ZmqSocket &router) {
    add_to(to_.segment.header().messages_received, 1);
    if (!frame.more()) {
        take(std::string(peer.data(), peer.size()), frame.data(), frame.size());
        return;
    }
    count_refusal(to_.segment.header(), "it has more than one part");
    for (bool more = true; more;) {
        ZmqMessage rest;
        more = router.receive(&rest) && rest.more();
    }
}

void Inbox::take(const std::string &peer, const char *bytes, uint64_t size) {
    try {
        FrameReader reader(bytes, size);
        FrameHeader header = decode_header(reader, to_.segment.header().cluster, shape_);
        Sender sender = senders_.find(peer, header);
        if (to_.farewells.refuse(header)) return;
        bool is_for_after = header.kind == Kind::round || header.kind == Kind::answer;
        if (is_for_after && to_.protocol.parked().holds_up(header.from)) {
            behind_.push_back({peer, Bytes(bytes, bytes + size)});
            return;
        }
        to_.protocol.hear_from(header.from);
        Message message{peer, sender, header, reader};
        switch (to_.epoch_change.judge(header)) {
        case Crossing::Verdict::hold: held_.push_back({peer, Bytes(bytes, bytes + size)}); break;
        case Crossing::Verdict::drop: break;
        case Crossing::Verdict::take_late: take_late(message); break;
        case Crossing::Verdict::take: (this->*taker_of(header.kind))(message); break;
        }
    } catch (const Malformed &error) {
        count_refusal(to_.segment.header(), error.what());
    } catch (const Unexpected &error) {
        count_refusal(to_.segment.header(), error.what());
    }
}

void Inbox::take_again(std::deque<HeldBack> *messages) {
    for (const HeldBack &message : std::exchange(*messages, {}))
        take(message.peer, message.bytes.data(), message.bytes.size());
}

void Inbox::take_held_back() { take_again(&held_); }

// What nodes asked to be told after such steps they are told when none is left.
void Inbox::retry_parked() {
    to_.protocol.retry([this](const Unexpected &error) { count_refusal(to_.segment.header(), error.what()); });
    if (to_.protocol.parked().empty()) take_again(&behind_);
}

void Inbox::note_intents() {
    to_.segment.header().intents_active.store(to_.intents.active(), std::memory_order_relaxed);
    to_.segment.header().intents_waiting.store(to_.intents.waiting(), std::memory_order_relaxed);
}

} // namespace ps
