#include "server/inbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "counting.h"
#include "errors.h"
#include "net/refusals.h"
#include "net/schemes.h"
#include "wire/notes.h"

namespace ps {

// What nodes and their vigils send; all other kinds are for channels.
const Inbox::Row Inbox::rows[] = {
    {Kind::hello, &Inbox::take_hello},       {Kind::alive, &Inbox::take_alive},
    {Kind::epoch, &Inbox::take_epoch},       {Kind::lost, &Inbox::take_lost},
    {Kind::noted, &Inbox::take_noted},       {Kind::attend, &Inbox::take_attend},
    {Kind::opened, &Inbox::take_opened},     {Kind::left, &Inbox::take_left},
    {Kind::settings, &Inbox::take_settings}, {Kind::board, &Inbox::take_board},
    {Kind::join, &Inbox::take_join},         {Kind::introduction, &Inbox::take_introduction},
};

bool Inbox::receive() {
    Received received;
    if (!to_.transport.receive(&received)) return false;
    add_to(to_.segment.header().messages_received, 1);
    if (received.fault)
        count_refusal(to_.segment.header(), received.fault);
    else
        take(std::move(received.from), received.message);
    return true;
}

void Inbox::take(std::string peer, ps::Message &frame) {
    try {
        FrameReader reader(frame.data(), frame.size());
        FrameHeader header = decode_header(reader, to_.segment.header().cluster, shape_);
        Sender sender = sender_of(peer, header);
        if (to_.farewells.refuse(header)) return;
        auto row = std::find_if(std::begin(rows), std::end(rows), [&](const Row &one) {
            return one.kind == header.kind && (one.kind != Kind::hello || sender.is_node());
        });
        if (row == std::end(rows))
            to_.channels.give(header.channel, {std::move(peer), sender, std::move(frame)});
        else
            (this->*row->take)({sender, header, reader});
    } catch (const Malformed &error) {
        count_refusal(to_.segment.header(), error.what());
    }
}

void Inbox::require_bare(const Message &message) const {
    require_other_node(message.sender, NodeId(to_.segment.header().node));
    require_no_keys(message.header);
    message.reader.require_end();
}

// A node introduces itself.
void Inbox::take_hello(const Message &message) {
    message.reader.require_end();
    to_.gates.meet(message.sender.node);
}

void Inbox::take_attend(const Message &message) {
    require_other_node(message.sender, NodeId(to_.segment.header().node));
    to_.gates.receive(message.header.from, AttendMessage::decode(message.header, message.reader));
}

void Inbox::take_opened(const Message &message) {
    require_other_node(message.sender, NodeId(to_.segment.header().node));
    to_.gates.receive(message.header.from, OpenedMessage::decode(message.header, message.reader));
}

void Inbox::take_settings(const Message &message) {
    require_other_node(message.sender, NodeId(to_.segment.header().node));
    to_.tuning.receive(message.header.from, SettingsMessage::decode(message.header, message.reader, shape_));
    to_.gates.look();
}

void Inbox::take_board(const Message &message) {
    require_other_node(message.sender, NodeId(to_.segment.header().node));
    BoardMessage found = BoardMessage::decode(message.header, message.reader);
    if (!to_.tables) throw Malformed("a table has no tables");
    to_.tables->receive(message.header, found);
}

void Inbox::take_left(const Message &message) {
    require_bare(message);
    to_.vigil->left(message.header.from);
    to_.farewells.take(message.header.from);
}

void Inbox::take_noted(const Message &message) {
    require_bare(message);
    to_.farewells.heard_by(message.header.from);
}

void Inbox::take_alive(const Message &message) {
    to_.vigil->receive(message.header, decode_alive(message.header, message.reader, shape_));
}

void Inbox::take_epoch(const Message &message) {
    to_.vigil->receive(message.header, decode_vote(message.header, message.reader, shape_));
}

// A node that asks for the first time is connected to, so that it can be answered.
void Inbox::take_join(const Message &message) {
    const JoinMessage asked = decode_join(message.header, message.reader, shape_);
    meet(message.header.from, asked.endpoint);
    to_.vigil->receive(message.header, asked.join);
}

void Inbox::take_introduction(const Message &message) {
    const IntroductionMessage told = decode_introduction(message.header, message.reader, shape_);
    const std::vector<NodeId> &members = told.introduction.members;
    const Header &header = to_.segment.header();
    if (!to_.segment.joins() || header.epoch.load(std::memory_order_acquire) > 0) return;
    for (size_t i = 0; i < members.size(); i++)
        if (members[i] != header.node) meet(members[i], told.endpoints[i]);
    to_.vigil->receive(message.header, told.introduction);
}

void Inbox::meet(NodeId node, const std::string &endpoint) {
    const std::string known = to_.segment.endpoint(node);
    if (endpoint == known) return;
    if (!known.empty()) throw Malformed("node " + std::to_string(node) + " is at " + known + ", not at " + endpoint);
    try {
        require_same_transport(to_.transport.endpoint(), endpoint);
        to_.transport.connect(node, endpoint);
    } catch (const Failure &failure) {
        throw Malformed(failure.what());
    }
    to_.segment.note_endpoint(node, endpoint);
    to_.vigil->meet(node, endpoint);
}

void Inbox::take_lost(const Message &message) {
    to_.vigil->receive(message.header, decode_lost(message.header, message.reader, shape_));
}

} // namespace ps
