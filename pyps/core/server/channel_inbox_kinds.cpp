// What is done with each kind of message to a channel. The header was checked before: the message belongs to this
// cluster and epoch, and comes from the node or worker that it names.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "counting.h"
#include "net/refusals.h"
#include "server/channel_inbox.h"

namespace ps {

const ChannelInbox::Row ChannelInbox::rows[] = {
    {Kind::hello, &ChannelInbox::take_hello},
    {Kind::request, &ChannelInbox::take_request},
    {Kind::answer, &ChannelInbox::take_answer},
    {Kind::localize, &ChannelInbox::take_localize},
    {Kind::relocate, &ChannelInbox::take_relocate},
    {Kind::transfer, &ChannelInbox::take_transfer},
    {Kind::want, &ChannelInbox::take_want},
    {Kind::delta, &ChannelInbox::take_delta},
    {Kind::refresh, &ChannelInbox::take_refresh},
    {Kind::ended, &ChannelInbox::take_ended},
    {Kind::intent, &ChannelInbox::take_intent},
    {Kind::holds, &ChannelInbox::take_holds},
    {Kind::gone, &ChannelInbox::take_gone},
    {Kind::settle, &ChannelInbox::take_settle},
    {Kind::round, &ChannelInbox::take_round},
    {Kind::taken, &ChannelInbox::take_taken},
    {Kind::moves, &ChannelInbox::take_moves},
    {Kind::recall, &ChannelInbox::take_recall},
    {Kind::backup, &ChannelInbox::take_backup},
    {Kind::backed, &ChannelInbox::take_backed},
    {Kind::take_over, &ChannelInbox::take_take_over},
    {Kind::news, &ChannelInbox::take_news},
    {Kind::backup_run, &ChannelInbox::take_backup_run},
    {Kind::backed_run, &ChannelInbox::take_backed_run},
    {Kind::offer, &ChannelInbox::take_offer},
    {Kind::trial, &ChannelInbox::take_trial},
};

ChannelInbox::Take ChannelInbox::taker_of(Kind kind) {
    const Row *row = std::find_if(std::begin(rows), std::end(rows), [&](const Row &one) { return one.kind == kind; });
    if (row == std::end(rows)) throw Malformed("it is not for a server");
    return row->take;
}

template <class Batch>
Batch ChannelInbox::decode(const Message &message) const {
    Batch batch = Batch::decode(message.header, message.reader, shape_);
    senders_.check(message.sender, batch);
    return batch;
}

template <class Batch, class Each>
void ChannelInbox::take_keys(const Message &message, Each &&take) {
    auto batch = decode<Batch>(message);
    take_each(to_.segment.header(), batch.keys, [&](size_t i) { take(batch, i); });
}

template <class Batch>
Batch ChannelInbox::decode_from_node(const Message &message) const {
    Batch batch = Batch::decode(message.header, message.reader, shape_);
    senders_.require_node(message.sender);
    return batch;
}

// A message of a former epoch. Only those that bring keys are still taken.
void ChannelInbox::take_late(const Message &message) {
    senders_.require_node(message.sender);
    Protocol &protocol = to_.protocol;
    if (message.header.kind == Kind::transfer) {
        take_keys<TransferBatch>(message, [&](TransferBatch &batch, size_t i) {
            protocol.receive_late(batch.keys[i], std::move(batch.transfers[i]));
        });
        return;
    }
    ValueBytes values;
    MovesBatch batch = MovesBatch::decode(message.header, message.reader, shape_, &values);
    const char *value = values.at;
    take_each(to_.segment.header(), batch.keys, [&](size_t i) {
        const char *begin = value;
        value += to_.segment.whole_bytes(batch.keys[i]);
        protocol.receive_late(batch.keys[i], Transfer{0, {}, {}, Bytes(begin, value)});
    });
}

// A worker introduces itself.
void ChannelInbox::take_hello(const Message &message) {
    message.reader.require_end();
    FrameHeader welcome = to_.mailbox.header();
    welcome.kind = Kind::welcome;
    welcome.count = message.header.count;
    to_.outbound.answer(message.sender.node, message.peer, FrameWriter(welcome).take());
}

void ChannelInbox::take_request(const Message &message) {
    ValueBytes values;
    RequestBatch batch = RequestBatch::decode(message.header, message.reader, shape_, &values);
    senders_.check(message.sender, batch);
    if (message.sender.is_node() && message.header.channel == any_channel)
        throw Malformed("it comes from a node, and for no channel in particular");
    if (batch.operation == Operation::localize)
        to_.serving.localize(message.header, batch);
    else if (is_about_rows(batch.operation))
        to_.serving.serve_about_rows(batch);
    else
        to_.serving.serve(message.header, batch, values, message.sender.is_node());
}

// Another node's answer to a worker of this node.
void ChannelInbox::take_answer(const Message &message) {
    ValueBytes values;
    AnswerBatch batch = AnswerBatch::decode(message.header, message.reader, shape_, &values);
    senders_.check(message.sender, batch);
    to_.mailbox.pass_on(batch, message.reader.message());
}

void ChannelInbox::take_localize(const Message &message) {
    auto batch = decode<LocalizeBatch>(message);
    to_.protocol.receive_run(batch.keys, Localize{batch.node});
}

void ChannelInbox::take_relocate(const Message &message) {
    auto batch = decode<RelocateBatch>(message);
    to_.protocol.receive_run(batch.keys, Relocate{batch.node});
}

void ChannelInbox::take_transfer(const Message &message) {
    take_keys<TransferBatch>(message, [&](TransferBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], std::move(batch.transfers[i]));
    });
}

void ChannelInbox::take_want(const Message &message) {
    auto batch = decode<WantBatch>(message);
    to_.protocol.receive_wants(batch.keys, batch.node, batch.numbers, batch.from_home);
}

void ChannelInbox::take_delta(const Message &message) {
    take_keys<DeltaBatch>(message, [&](DeltaBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], std::move(batch.deltas[i]), batch.from_home);
    });
}

void ChannelInbox::take_refresh(const Message &message) {
    take_keys<RefreshBatch>(message, [&](RefreshBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], std::move(batch.refreshes[i]));
    });
}

void ChannelInbox::take_ended(const Message &message) {
    take_keys<EndedBatch>(
        message, [&](EndedBatch &batch, size_t i) { to_.protocol.receive(batch.keys[i], Ended{batch.numbers[i]}); });
    count_in(to_.segment.header().keys_without_room, int64_t(to_.protocol.take_roomless()));
}

void ChannelInbox::take_recall(const Message &message) {
    take_keys<RecallBatch>(
        message, [&](RecallBatch &batch, size_t i) { to_.protocol.receive(batch.keys[i], Recall{batch.numbers[i]}); });
}

void ChannelInbox::take_moves(const Message &message) {
    ValueBytes values;
    MovesBatch batch = MovesBatch::decode(message.header, message.reader, shape_, &values);
    senders_.require_node(message.sender);
    to_.protocol.receive_moves(batch.keys, values.at);
}

void ChannelInbox::take_intent(const Message &message) {
    IntentBatch batch = IntentBatch::decode(message.header, message.reader, shape_);
    senders_.require_worker_here(message.sender);
    if (batch.worker < 1 || batch.worker > to_.segment.header().max_workers)
        throw Malformed("its worker's slot, " + std::to_string(batch.worker) + ", does not exist");
    to_.intents.add(batch.worker, batch.start, batch.end, std::move(batch.keys));
    to_.intents.update();
    note_intents();
}

void ChannelInbox::take_settle(const Message &message) {
    SettleMessage question = SettleMessage::decode(message.header, message.reader);
    senders_.require_worker_here(message.sender);
    to_.intents.update();
    note_intents();
    to_.settling.add(message.peer, question);
}

// Sends first what earlier messages have caused, so that the answer does not overtake it.
void ChannelInbox::take_round(const Message &message) {
    RoundMessage round = RoundMessage::decode(message.header, message.reader);
    senders_.require_node(message.sender);
    to_.mailbox.flush();
    round.kind = Kind::taken;
    to_.outbound.send(message.sender.node, round.encode(to_.mailbox.header()));
}

void ChannelInbox::take_taken(const Message &message) {
    senders_.require_node(message.sender);
    to_.mailbox.taken(message.sender.node, RoundMessage::decode(message.header, message.reader).number);
}

void ChannelInbox::take_holds(const Message &message) {
    to_.epoch_change.receive(message.header.from, decode_from_node<HoldsBatch>(message));
}

void ChannelInbox::take_backup(const Message &message) {
    take_keys<BackupBatch>(message, [&](BackupBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], std::move(batch.backups[i]));
    });
}

void ChannelInbox::take_backed(const Message &message) {
    take_keys<BackedBatch>(message, [&](BackedBatch &batch, size_t i) {
        to_.protocol.receive(batch.keys[i], Backed{message.header.from, batch.numbers[i]});
    });
}

void ChannelInbox::take_backup_run(const Message &message) {
    senders_.require_node(message.sender);
    to_.protocol.receive(BackupRunMessage::decode(message.header, message.reader, shape_));
}

void ChannelInbox::take_backed_run(const Message &message) {
    senders_.require_node(message.sender);
    to_.protocol.receive(BackedRunMessage::decode(message.header, message.reader));
}

void ChannelInbox::take_take_over(const Message &message) {
    take_keys<TakeOverBatch>(
        message, [&](TakeOverBatch &batch, size_t i) { to_.protocol.receive(batch.keys[i], batch.orders[i]); });
}

void ChannelInbox::take_news(const Message &message) {
    to_.protocol.hear(message.header.from, decode_from_node<NewsMessage>(message).news);
}

void ChannelInbox::take_trial(const Message &message) {
    auto trial = decode_from_node<TrialMessage>(message);
    if (to_.choice) to_.choice->receive(monotonic_seconds(), message.header.from, trial);
}

void ChannelInbox::take_offer(const Message &message) {
    auto batch = decode<OfferBatch>(message);
    if (to_.serving.has_room_for(batch.keys))
        to_.protocol.receive(Offer{std::move(batch.keys)});
    else
        to_.mailbox.tell(batch.node, {News::What::full});
}

void ChannelInbox::take_gone(const Message &message) {
    auto batch = decode_from_node<GoneBatch>(message);
    take_each(to_.segment.header(), batch.keys,
              [&](size_t i) { to_.protocol.receive(batch.keys[i], Gone{batch.node}); });
}

} // namespace ps
