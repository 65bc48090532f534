#include "net/mailbox.h"

#include <algorithm>
#include <type_traits>

#include "counting.h"
#include "net/bounds.h"
#include "wire/barriers.h"

namespace ps {

namespace {

// Bytes that a key takes in a message beside its value; see docs/wire.md.
constexpr uint64_t key_bytes = sizeof(Key), number_bytes = sizeof(uint32_t), record_bytes = 16;
constexpr uint64_t origin_bytes = 24, node_bytes = sizeof(NodeId), version_bytes = sizeof(uint64_t);
constexpr uint64_t transfer_bytes = key_bytes + 30, delta_bytes = key_bytes + 14, refresh_bytes = key_bytes + 20;

void append(Bytes *to, const Bytes &more) { to->insert(to->end(), more.begin(), more.end()); }

} // namespace

Mailbox::Mailbox(const Segment &segment, uint32_t channel, Outbound &outbound, Landed landed)
    : counters_(segment.header()), shape_(segment), header_(header_from(segment, channel)), outbound_(outbound),
      landed_(std::move(landed)), rounds_(segment.header().places), outgoing_(segment.header().places) {}

// The last message for a node of this kind that has room for so many more bytes, unless a later one may be about one of
// the keys as well; else a new one.
template <class Kind, class Fits>
Kind &Mailbox::last_of(NodeId to, const Key *keys, size_t num_keys, uint64_t bytes, Fits &&fits) {
    constexpr bool is_answer = std::is_same_v<Kind, AnswerBatch>; // comes after all that was sent before
    constexpr size_t most_looked_at = is_answer ? 1 : 16;
    std::deque<Outgoing> &queue = outgoing_[to];
    auto add_to = [&](Outgoing &message) -> Kind & {
        message.bytes += bytes;
        std::for_each_n(keys, num_keys, [&](Key key) { message.keys.add(key); });
        return std::get<Kind>(message.batch);
    };
    for (size_t at = queue.size(), left = most_looked_at; at-- > 0 && left-- > 0;) {
        Outgoing &known = queue[at];
        const Kind *batch = std::get_if<Kind>(&known.batch);
        if (batch && fits(*batch) && known.bytes + bytes <= most_for_node) return add_to(known);
        auto is_here = [&](Key key) { return known.keys.may_have(key); };
        if (std::holds_alternative<AnswerBatch>(known.batch) || std::any_of(keys, keys + num_keys, is_here)) break;
    }
    return add_to(queue.emplace_back(Outgoing{Kind{}}));
}

template <class Kind, class Fits>
Kind &Mailbox::last(NodeId to, Key key, uint64_t bytes, Fits &&fits) {
    return last_of<Kind>(to, &key, 1, bytes, std::forward<Fits>(fits));
}

void Mailbox::send(NodeId to, Key key, const Request &message, bool from_home) {
    count_in(counters_.requests_forwarded, 1);
    const Origin &origin = message.origin;
    auto &batch = last<RequestBatch>(to, key, bytes_per_key + shape_.value_bytes(key), [&](const RequestBatch &known) {
        return known.operation == message.operation && known.from_home == from_home && known.node == origin.node &&
               known.worker == origin.worker && known.number == origin.operation;
    });
    batch.operation = message.operation;
    batch.from_home = from_home;
    batch.node = origin.node;
    batch.worker = origin.worker;
    batch.number = origin.operation;
    batch.behind = origin.behind;
    batch.keys.push_back(key);
    batch.positions.push_back(origin.position);
    append(&batch.values, message.value);
}

void Mailbox::send(NodeId to, Key key, const Want &message, bool from_home) {
    auto &batch = last<WantBatch>(to, key, key_bytes + number_bytes, [&](const WantBatch &known) {
        return known.node == message.node && known.from_home == from_home;
    });
    batch.node = message.node;
    batch.from_home = from_home;
    batch.keys.push_back(key);
    batch.numbers.push_back(message.number);
    if (batch.keys.size() >= keys_at_once) flush();
}

void Mailbox::send(NodeId to, Key key, const Delta &message, bool from_home) {
    const Packing packing = shape_.packing();
    const uint64_t whole = message.value.size();
    const uint64_t bytes = message.is_part ? std::min(whole, packing.most_bytes(whole)) : whole;
    auto &batch = last<DeltaBatch>(to, key, delta_bytes + bytes, [&](const DeltaBatch &known) {
        return known.node == message.node && known.from_home == from_home;
    });
    batch.packing = packing;
    batch.node = message.node;
    batch.from_home = from_home;
    batch.keys.push_back(key);
    batch.deltas.push_back(message);
}

void Mailbox::send(NodeId to, Key key, const Refresh &message) {
    auto &batch = last<RefreshBatch>(to, key, refresh_bytes + message.value.size(),
                                     [&](const RefreshBatch &known) { return known.owner == message.owner; });
    batch.owner = message.owner;
    batch.keys.push_back(key);
    batch.refreshes.push_back(message);
}

void Mailbox::send(NodeId to, Key key, const Ended &message) {
    auto &batch = last<EndedBatch>(to, key, key_bytes + number_bytes, [](const EndedBatch &) { return true; });
    batch.keys.push_back(key);
    batch.numbers.push_back(message.number);
}

void Mailbox::send(NodeId to, Key key, const Recall &message) {
    auto &batch = last<RecallBatch>(to, key, key_bytes + number_bytes, [](const RecallBatch &) { return true; });
    batch.keys.push_back(key);
    batch.numbers.push_back(message.number);
}

void Mailbox::send(NodeId to, Key key, const Localize &message) {
    auto &batch = last<LocalizeBatch>(to, key, key_bytes,
                                      [&](const LocalizeBatch &known) { return known.node == message.to; });
    batch.node = message.to;
    batch.keys.push_back(key);
    if (batch.keys.size() >= keys_at_once) flush();
}

void Mailbox::send(NodeId to, Key key, const Relocate &message) {
    auto &batch = last<RelocateBatch>(to, key, key_bytes,
                                      [&](const RelocateBatch &known) { return known.node == message.to; });
    batch.node = message.to;
    batch.keys.push_back(key);
}

void Mailbox::send(NodeId to, Key key, const Transfer &message) {
    uint64_t bytes = transfer_bytes + (message.replicas.size() + message.ghosts.size()) * record_bytes +
                     message.keepers.size() * node_bytes + message.written.size() * origin_bytes;
    auto &batch = last<TransferBatch>(to, key, bytes + message.value.size(),
                                      [](const TransferBatch &) { return true; });
    batch.keys.push_back(key);
    batch.transfers.push_back(message);
}

void Mailbox::send(NodeId to, Moves &&message) {
    const std::vector<Key> &keys = message.keys;
    const uint64_t bytes = keys.size() * key_bytes + message.values.size();
    auto &batch = last_of<MovesBatch>(to, keys.data(), keys.size(), bytes, [](const MovesBatch &known) {
        return known.keys.size() < keys_at_once && known.values.size() < most_bytes_at_once;
    });
    if (batch.keys.empty()) {
        static_cast<Moves &>(batch) = std::move(message);
    } else {
        batch.keys.insert(batch.keys.end(), keys.begin(), keys.end());
        append(&batch.values, message.values);
    }
    if (batch.keys.size() >= keys_at_once || batch.values.size() >= most_bytes_at_once) flush();
}

void Mailbox::send(NodeId to, Key key, const Backup &message) {
    uint64_t bytes = key_bytes + version_bytes + 2 * number_bytes + message.written.size() * origin_bytes;
    auto &batch = last<BackupBatch>(to, key, bytes + message.whole.size(), [](const BackupBatch &) { return true; });
    batch.keys.push_back(key);
    batch.backups.push_back(message);
}

void Mailbox::send(NodeId to, Key key, const Backed &message) {
    auto &batch = last<BackedBatch>(to, key, key_bytes + version_bytes, [](const BackedBatch &) { return true; });
    batch.keys.push_back(key);
    batch.numbers.push_back(message.version);
}

void Mailbox::send(NodeId to, Key key, const TakeOver &message) {
    uint64_t bytes = key_bytes + node_bytes + message.keepers.size() * node_bytes;
    auto &batch = last<TakeOverBatch>(to, key, bytes, [](const TakeOverBatch &) { return true; });
    batch.keys.push_back(key);
    batch.orders.push_back(message);
}

void Mailbox::send_at_once(NodeId to, Bytes message) {
    flush();
    rounds_[to].is_used = true;
    outbound_.send(to, std::move(message));
}

void Mailbox::send(NodeId to, const BackupRun &message) {
    send_at_once(to, BackupRunMessage::encode(message, header_));
}

void Mailbox::send(NodeId to, const BackedRun &message) {
    send_at_once(to, BackedRunMessage::encode(message, header_));
}

void Mailbox::send(NodeId to, const Offer &message) {
    send_at_once(to, OfferBatch{header_.from, message.keys}.encode(header_));
}

void Mailbox::tell(NodeId to, News news) { send_at_once(to, NewsMessage{news}.encode(header_)); }

void Mailbox::address(AnswerBatch &batch, const Origin &origin) {
    batch.node = origin.node;
    batch.worker = origin.worker;
    batch.number = origin.operation;
    batch.forwarded = true;
}

void Mailbox::add_answer(AnswerBatch &batch, const Origin &origin, const Bytes &value) {
    address(batch, origin);
    batch.count++;
    batch.positions.push_back(origin.position);
    append(&batch.values, value);
}

AnswerBatch &Mailbox::last_answer(const Origin &origin, NodeId lost_with, uint64_t value_bytes) {
    std::vector<AnswerBatch> &batches = answers_[{origin.node, origin.worker, origin.operation, lost_with}];
    auto fits = [&](const AnswerBatch &batch) {
        return (batch.count + 1) * number_bytes + batch.values.size() + value_bytes <= most_for_node;
    };
    if (batches.empty() || !fits(batches.back())) batches.emplace_back();
    return batches.back();
}

void Mailbox::answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) {
    Operation operation = value.empty() ? Operation::push : Operation::pull;
    if (after_refresh && answers_together_) {
        late_.push_back({origin, key, value});
        return;
    }
    if (!after_refresh) {
        AnswerBatch &batch = last_answer(origin, no_node, value.size());
        batch.operation = operation;
        add_answer(batch, origin, value);
        return;
    }
    auto &batch = last<AnswerBatch>(origin.node, key, number_bytes + value.size(), [&](const AnswerBatch &known) {
        return known.node == origin.node && known.worker == origin.worker && known.number == origin.operation;
    });
    batch.operation = operation;
    add_answer(batch, origin, value);
}

void Mailbox::give_late_answers() {
    answers_together_ = false;
    for (const Late &late : std::exchange(late_, {})) answer(late.origin, late.key, late.value, true);
}

void Mailbox::answer(const Origin &origin, const std::vector<uint32_t> &positions) {
    AnswerBatch batch;
    address(batch, origin);
    batch.operation = Operation::push;
    batch.count = uint32_t(positions.size());
    batch.positions = positions;
    answer_whole(batch);
}

void Mailbox::landed(uint64_t waiter, Key) { landed_(waiter, no_node); }

void Mailbox::gone(uint64_t waiter, Key, NodeId lost_with) { landed_(waiter, lost_with); }

void Mailbox::refuse(const Origin &origin, Key, NodeId lost_with) {
    AnswerBatch &batch = last_answer(origin, lost_with, 0);
    batch.note_failure(lost_with);
    add_answer(batch, origin, {});
}

void Mailbox::send(NodeId to, Key key, const Holds &message) {
    auto &batch = last<HoldsBatch>(to, key, key_bytes + version_bytes, [&](const HoldsBatch &known) {
        return known.node == message.node && known.lost == message.lost && known.versions.empty() == !message.backup;
    });
    batch.phase = HoldsBatch::Phase::report;
    batch.node = message.node;
    batch.lost = message.lost;
    batch.keys.push_back(key);
    if (message.backup) batch.versions.push_back(message.backup);
}

void Mailbox::send(NodeId to, Key key, const Gone &message) {
    auto &batch = last<GoneBatch>(to, key, key_bytes,
                                  [&](const GoneBatch &known) { return known.node == message.with; });
    batch.node = message.with;
    batch.keys.push_back(key);
}

void Mailbox::answer_whole(const AnswerBatch &batch) {
    outbound_.answer(batch.node, name_of_worker(batch.node, batch.worker, header_.cluster), batch.encode(header_));
}

void Mailbox::answer_whole(NodeId node, uint32_t worker, Message &&message) {
    outbound_.answer(node, name_of_worker(node, worker, header_.cluster), std::move(message));
}

void Mailbox::pass_on(const AnswerBatch &batch, Bytes message) {
    outbound_.pass_on(name_of_worker(batch.node, batch.worker, header_.cluster), std::move(message));
}

void Mailbox::flush() {
    for (NodeId node = 0; node < outgoing_.size(); node++) {
        if (!outgoing_[node].empty()) rounds_[node].is_used = true;
        for (const Outgoing &message : outgoing_[node])
            std::visit([&](const auto &batch) { outbound_.send(node, batch.encode(header_)); }, message.batch);
        outgoing_[node].clear();
    }
    for (const auto &[where, batches] : answers_)
        for (const AnswerBatch &batch : batches) answer_whole(batch);
    answers_.clear();
}

size_t Mailbox::end_round() {
    size_t used = 0;
    for (NodeId node = 0; node < rounds_.size(); node++) {
        Rounds &rounds = rounds_[node];
        used += rounds.is_used;
        if (!rounds.is_used || rounds.taken != rounds.sent) continue;
        rounds.is_used = false;
        outbound_.send(node, RoundMessage{Kind::round, ++rounds.sent}.encode(header_));
    }
    return used;
}

void Mailbox::taken(NodeId node, uint64_t round) {
    if (round > rounds_[node].sent) throw Malformed("it took a round that was not sent");
    rounds_[node].taken = std::max(rounds_[node].taken, round);
}

bool Mailbox::is_silent() const {
    return std::all_of(rounds_.begin(), rounds_.end(),
                       [](const Rounds &rounds) { return !rounds.is_used && rounds.taken == rounds.sent; });
}

// Messages of former epochs may never be taken in, so nothing waits for that.
void Mailbox::begin_epoch(uint32_t epoch) {
    header_.epoch = epoch & 0xffffff;
    for (Rounds &round : rounds_) {
        round.taken = round.sent;
        round.is_used = false;
    }
}

} // namespace ps
