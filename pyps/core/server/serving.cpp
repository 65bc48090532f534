#include "server/serving.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "counting.h"
#include "net/bounds.h"
#include "store/batch.h"

namespace ps {

// Most of a batch lives here: do that in one go, and leave the rest to the protocol, key by key. What is pulled is
// written into the answer's message, what is pushed is read from the request's.
void Serving::serve(const RequestBatch &batch, Span values, bool forwarded) {
    AnswerBatch answer = AnswerBatch::to(batch);
    auto count = int64_t(batch.keys.size());
    answer.forwarded = forwarded;
    const auto *keys = reinterpret_cast<const int64_t *>(batch.keys.data());
    const uint32_t element = segment_.header().element_bytes;
    const bool pull = batch.operation == Operation::pull;
    uint64_t bytes = shape_.total_bytes(batch.keys);
    require_one_message(batch.keys.size(), bytes);
    uint64_t columns = batch.positions.size() * sizeof(uint32_t);
    Message message = mailbox_.message(sizeof(OperationHead) + columns + (pull ? bytes : 0));
    char *to = message.data() + sizeof(OperationHead) + columns;
    Bytes aligned;
    if (!pull && reinterpret_cast<uintptr_t>(values.at) % element) {
        aligned.assign(values.at, values.at + values.bytes);
        values.at = aligned.data();
    }
    Elsewhere elsewhere{true, {}};
    ps_request request{int32_t(batch.operation), 0, keys, count, pull ? to : const_cast<char *>(values.at),
                       int64_t(bytes / element), 0, -1,   0};
    if (has_parked(batch.keys)) { // then keys that come twice wait behind them too
        elsewhere.positions.resize(batch.keys.size());
        std::iota(elsewhere.positions.begin(), elsewhere.positions.end(), 0);
    } else {
        run_local(segment_, values_.latches(), request, &elsewhere);
    }
    if (!elsewhere.positions.empty()) {
        leave_to_protocol(batch, elsewhere.positions, pull ? Span{to, bytes} : values, &answer);
        if (answer.count > 0) mailbox_.answer_whole(answer);
        return;
    }
    OperationHead head = answer.head(mailbox_.header());
    std::memcpy(message.data(), &head, sizeof head);
    if (columns) std::memcpy(message.data() + sizeof head, batch.positions.data(), columns);
    mailbox_.answer_whole(answer.node, answer.worker, std::move(message));
}

bool Serving::has_parked(const std::vector<Key> &keys) const {
    const Parked &parked = protocol_.parked();
    return !parked.empty() && std::any_of(keys.begin(), keys.end(), [&](Key key) { return parked.count(key); });
}

// Answer a batch without the keys at the positions `elsewhere`, which the protocol gets with their values.
void Serving::leave_to_protocol(const RequestBatch &batch, const std::vector<int64_t> &elsewhere, Span values,
                                AnswerBatch *answer) {
    bool pull = batch.operation == Operation::pull;
    answer->whole = false;
    answer->count -= uint32_t(elsewhere.size());
    const char *value = values.at;
    auto next = elsewhere.begin();
    for (uint32_t i = 0; i < batch.keys.size(); i++) {
        const char *end = value + segment_.value_bytes(batch.keys[i]);
        if (next == elsewhere.end() || *next != i) {
            answer->positions.push_back(batch.position(i));
            if (pull) answer->values.insert(answer->values.end(), value, end);
        } else {
            ++next;
            Request single{batch.operation, Origin{batch.node, batch.worker, batch.position(i), batch.number}, {}};
            if (!pull) single.value.assign(value, end);
            protocol_.receive(batch.keys[i], std::move(single), batch.from_home);
        }
        value = end;
    }
}

uint64_t Serving::promised() const { return admitted_ + protocol_.asked() * segment_.header().undo_bytes; }

// Intents that have begun; keys without room stay where they are.
void Serving::want(const std::vector<Key> &keys) {
    if (!segment_.header().memory_limit) {
        protocol_.want(keys);
        return;
    }
    std::vector<Key> admitted;
    uint64_t bytes = 0; // of replicas, which take the most
    for (Key key : keys) {
        Place place(segment_.entry(key).load(std::memory_order_relaxed));
        uint64_t more = segment_.length_class(place.length_class()).shared_bytes;
        if (place.residence() == Residence::absent) {
            if (!promises_.promise(channel_, Kept::shared, promised() + bytes, more)) continue;
            bytes += more;
        }
        admitted.push_back(key);
    }
    count_in(segment_.header().keys_without_room, int64_t(keys.size() - admitted.size()));
    protocol_.want(admitted);
}

void Serving::localize(const RequestBatch &batch) {
    if (trace_) trace_->note(batch.keys, PS_TRACE_LOCALIZE);
    uint64_t bytes = bytes_of_absent(segment_, batch.keys.data(), batch.keys.size());
    bool refused = bytes > 0 && !promises_.promise(channel_, Kept::alone, promised(), bytes);
    uint64_t number = ++last_waiter_;
    Waiter &waiter = waiters_[number];
    waiter.bytes = refused ? 0 : bytes;
    waiter.answer = AnswerBatch::to(batch);
    waiter.answer.positions = batch.positions;
    waiter.answer.refused = refused;
    waiter.left = waiter.answer.count;
    if (refused) {
        mailbox_.answer_whole(waiter.answer);
        waiters_.erase(number);
        return;
    }
    admitted_ += bytes;
    protocol_.localize(batch.keys, number);
}

void Serving::landed(uint64_t number, NodeId lost_with) {
    Waiter &waiter = waiters_.at(number);
    if (lost_with != no_node) waiter.answer.lost_with = lost_with;
    if (--waiter.left > 0) return;
    mailbox_.answer_whole(waiter.answer);
    admitted_ -= waiter.bytes;
    waiters_.erase(number);
}

} // namespace ps
