// What becomes of each kind of message, once its header is checked: it is of this cluster and this epoch, and comes
// from the node or worker that it names.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "net/refusals.h"
#include "server/inbox.h"
#include "wire/notes.h"

namespace ps {

const Inbox::Row Inbox::rows[] = {
    {Kind::hello, &Inbox::take_hello},       {Kind::request, &Inbox::take_request},
    {Kind::answer, &Inbox::take_answer},     {Kind::localize, &Inbox::take_localize},
    {Kind::relocate, &Inbox::take_relocate}, {Kind::transfer, &Inbox::take_transfer},
    {Kind::want, &Inbox::take_want},         {Kind::delta, &Inbox::take_delta},
    {Kind::refresh, &Inbox::take_refresh},   {Kind::ended, &Inbox::take_ended},
    {Kind::intent, &Inbox::take_intent},     {Kind::alive, &Inbox::take_alive},
    {Kind::epoch, &Inbox::take_epoch},       {Kind::lost, &Inbox::take_lost},
    {Kind::noted, &Inbox::take_noted},       {Kind::holds, &Inbox::take_holds},
    {Kind::gone, &Inbox::take_gone},         {Kind::attend, &Inbox::take_attend},
    {Kind::opened, &Inbox::take_opened},     {Kind::left, &Inbox::take_left},
    {Kind::settle, &Inbox::take_settle},     {Kind::round, &Inbox::take_round},
    {Kind::taken, &Inbox::take_taken},       {Kind::moves, &Inbox::take_moves},
};

Inbox::Take Inbox::taker_of(Kind kind) {
    const Row *row = std::find_if(std::begin(rows), std::end(rows), [&](const Row &one) { return one.kind == kind; });
    if (row == std::end(rows)) throw Malformed("it is not for a server");
    return row->take;
}

template <class Batch>
Batch Inbox::decode(const Message &message) const {
    Batch batch = Batch::decode(message.header, message.reader, shape_);
    senders_.check(message.sender, batch);
    return batch;
}

template <class Batch, class Each>
void Inbox::take_keys(const Message &message, Each &&take) {
    auto batch = decode<Batch>(message);
    take_each(to_.segment.header(), batch.keys, [&](size_t i) { take(batch, i); });
}

template <class Batch>
Batch Inbox::decode_from_node(const Message &message) const {
    Batch batch = Batch::decode(message.header, message.reader, shape_);
    senders_.require_node(message.sender);
    return batch;
}

void Inbox::require_bare(const Message &message) const {
    senders_.require_node(message.sender);
    require_no_keys(message.header);
    message.reader.finish();
}

// A former epoch's; only messages that bring keys are still taken.
void Inbox::take_late(const Message &message) {
    senders_.require_node(message.sender);
    Protocol &protocol = to_.protocol;
    if (message.header.kind == Kind::transfer) {
        take_keys<TransferBatch>(message, [&](TransferBatch &batch, size_t i) {
            protocol.receive_late(batch.keys[i], std::move(batch.transfers[i]));
        });
        return;
    }
    Span values;
    MovesBatch batch = MovesBatch::decode(message.header, message.reader, shape_, &values);
    const char *value = values.at;
    take_each(to_.segment.header(), batch.keys, [&](size_t i) {
        const char *begin = value;
        value += to_.segment.whole_bytes(batch.keys[i]);
        protocol.receive_late(batch.keys[i], Transfer{0, {}, {}, Bytes(begin, value)});
    });
}

// Of a node or a worker that introduces itself.
void Inbox::take_hello(const Message &message) {
    message.reader.finish();
    if (message.sender.is_node) {
        to_.gates.meet(message.sender.node);
        return;
    }
    FrameHeader welcome = header_from(to_.segment);
    welcome.kind = Kind::welcome;
    to_.routers.send(message.peer, FrameWriter(welcome).take());
}

void Inbox::take_request(const Message &message) {
    Span values;
    RequestBatch batch = RequestBatch::decode(message.header, message.reader, shape_, &values);
    senders_.check(message.sender, batch);
    if (batch.operation == Operation::localize)
        to_.serving.localize(batch);
    else
        to_.serving.serve(batch, values, message.sender.is_node);
}

// Of another node, for a worker of this one.
void Inbox::take_answer(const Message &message) {
    Span values;
    AnswerBatch batch = AnswerBatch::decode(message.header, message.reader, shape_, &values);
    senders_.check(message.sender, batch);
    to_.mailbox.pass_on(batch, message.reader.message());
}

void Inbox::take_localize(const Message &message) {
    auto batch = decode<LocalizeBatch>(message);
    to_.protocol.receive_run(batch.keys, Localize{batch.node});
}

void Inbox::take_relocate(const Message &message) {
    auto batch = decode<RelocateBatch>(message);
    to_.protocol.receive_run(batch.keys, Relocate{batch.node});
}

void Inbox::take_transfer(const Message &message) {
    take_keys<TransferBatch>(message, [&](TransferBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], std::move(batch.transfers[i]));
    });
}

void Inbox::take_want(const Message &message) {
    auto batch = decode<WantBatch>(message);
    to_.protocol.receive_wants(batch.keys, batch.node, batch.numbers, batch.from_home);
}

void Inbox::take_delta(const Message &message) {
    take_keys<DeltaBatch>(message, [&](DeltaBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], std::move(batch.deltas[i]), batch.from_home);
    });
}

void Inbox::take_refresh(const Message &message) {
    take_keys<RefreshBatch>(message, [&](RefreshBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], std::move(batch.refreshes[i]));
    });
}

void Inbox::take_ended(const Message &message) {
    take_keys<EndedBatch>(
        message, [&](EndedBatch &batch, size_t i) { to_.protocol.receive(batch.keys[i], Ended{batch.numbers[i]}); });
}

void Inbox::take_moves(const Message &message) {
    Span values;
    MovesBatch batch = MovesBatch::decode(message.header, message.reader, shape_, &values);
    senders_.require_node(message.sender);
    to_.protocol.receive_moves(batch.keys, values.at);
}

void Inbox::take_intent(const Message &message) {
    IntentBatch batch = IntentBatch::decode(message.header, message.reader, shape_);
    senders_.require_worker_here(message.sender);
    if (batch.worker < 1 || batch.worker > to_.segment.header().max_workers)
        throw Malformed("its worker's slot, " + std::to_string(batch.worker) + ", does not exist");
    to_.intents.add(batch.worker, batch.start, batch.end, std::move(batch.keys));
    to_.intents.update();
    note_intents();
}

void Inbox::take_settle(const Message &message) {
    SettleMessage question = SettleMessage::decode(message.header, message.reader);
    senders_.require_worker_here(message.sender);
    to_.intents.update();
    note_intents();
    to_.settling.add(message.peer, question);
}

// The answer overtakes nothing that was brought about by what came before.
void Inbox::take_round(const Message &message) {
    RoundMessage round = RoundMessage::decode(message.header, message.reader);
    senders_.require_node(message.sender);
    to_.mailbox.flush();
    round.kind = Kind::taken;
    to_.peers.send(message.sender.node, round.encode(header_from(to_.segment)));
}

void Inbox::take_taken(const Message &message) {
    senders_.require_node(message.sender);
    to_.mailbox.taken(message.sender.node, RoundMessage::decode(message.header, message.reader).number);
}

void Inbox::take_attend(const Message &message) {
    senders_.require_node(message.sender);
    to_.gates.receive(message.header.from, AttendMessage::decode(message.header, message.reader));
}

void Inbox::take_opened(const Message &message) {
    senders_.require_node(message.sender);
    to_.gates.receive(message.header.from, OpenedMessage::decode(message.header, message.reader));
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

void Inbox::take_lost(const Message &message) {
    to_.vigil->receive(message.header, decode_lost(message.header, message.reader, shape_));
}

void Inbox::take_holds(const Message &message) {
    to_.epoch_change.receive(message.header.from, decode_from_node<HoldsBatch>(message));
}

void Inbox::take_gone(const Message &message) {
    auto batch = decode_from_node<GoneBatch>(message);
    take_each(to_.segment.header(), batch.keys,
              [&](size_t i) { to_.protocol.receive(batch.keys[i], Gone{batch.node}); });
}

} // namespace ps
