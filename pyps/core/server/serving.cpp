#include "server/serving.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "counting.h"
#include "net/bounds.h"
#include "store/batch.h"

namespace ps {

void Serving::serve(const FrameHeader &header, const RequestBatch &batch, ValueBytes values, bool forwarded) {
    if (protocol_.is_empty()) return; // it is asked for again
    std::vector<Key> unadmitted;
    if (use_counts_ && batch.operation != Operation::set) unadmitted = count_uses(header, batch.keys);
    if (unadmitted.empty()) return serve_admitted(header, batch, values, forwarded);
    const RequestBatch rest = answer_unadmitted(batch, values, forwarded, unadmitted);
    if (!rest.keys.empty()) serve_admitted(header, rest, {rest.values.data(), rest.values.size()}, forwarded);
}

// Most keys of a batch live here: do these in one go, and leave the others to the protocol, key by key. Pulled values
// are written into the answer's message, pushed ones are read from the request's.
void Serving::serve_admitted(const FrameHeader &header, const RequestBatch &batch, ValueBytes values, bool forwarded) {
    AnswerBatch answer = AnswerBatch::to(batch);
    auto count = int64_t(batch.keys.size());
    answer.forwarded = forwarded;
    const auto *keys = reinterpret_cast<const int64_t *>(batch.keys.data());
    const uint32_t element = segment_.header().element_bytes;
    const bool pull = batch.operation == Operation::pull;
    uint64_t bytes = shape_.total_bytes(batch.keys);
    require_one_message(batch.keys.size(), bytes);
    if (!make_rows(header, batch.keys)) return refuse(batch);
    Bytes aligned;
    if (!pull && reinterpret_cast<uintptr_t>(values.at) % element) {
        aligned.assign(values.at, values.at + values.bytes);
        values.at = aligned.data();
    }
    if (segment_.header().replicas > 0 && is_write(batch.operation)) return leave_writes(header, batch, values);
    uint64_t columns = batch.positions.size() * sizeof(uint32_t);
    Message message = mailbox_.message(sizeof(OperationHead) + columns + (pull ? bytes : 0));
    char *to = message.data() + sizeof(OperationHead) + columns;
    Elsewhere elsewhere;
    elsewhere.for_server = true;
    ps_request request{int32_t(batch.operation), 0, keys, count, pull ? to : const_cast<char *>(values.at),
                       int64_t(bytes / element), 0, -1,   0};
    if (has_parked(batch.keys)) { // all to the protocol: a key that comes twice keeps its order
        elsewhere.positions.resize(batch.keys.size());
        std::iota(elsewhere.positions.begin(), elsewhere.positions.end(), 0);
    } else {
        run_local(segment_, values_.latches(), request, &elsewhere);
    }
    if (!elsewhere.positions.empty()) {
        mailbox_.answer_together([&] {
            leave_to_protocol(header, batch, elsewhere.positions, pull ? ValueBytes{to, bytes} : values, &answer);
        });
        if (answer.count > 0) mailbox_.answer_whole(answer);
    } else {
        OperationHead head = answer.head(mailbox_.header());
        std::memcpy(message.data(), &head, sizeof head);
        if (columns) std::memcpy(message.data() + sizeof head, batch.positions.data(), columns);
        mailbox_.answer_whole(answer.node, answer.worker, std::move(message));
    }
    if (batch.node != segment_.header().node) protocol_.note_use(batch.keys);
}

bool Serving::has_parked(const std::vector<Key> &keys) const {
    const Parked &parked = protocol_.parked();
    return !parked.empty() && std::any_of(keys.begin(), keys.end(), [&](Key key) { return parked.count(key); });
}

// Answer a batch, except for the keys at the positions `elsewhere`: these go to the protocols of their channels, with
// their values.
void Serving::leave_to_protocol(const FrameHeader &header, const RequestBatch &batch,
                                const std::vector<int64_t> &elsewhere, ValueBytes values, AnswerBatch *answer) {
    const bool pull = batch.operation == Operation::pull, is_for_any = header.channel == any_channel;
    answer->whole = false;
    answer->count -= uint32_t(elsewhere.size());
    const char *value = values.at;
    auto next = elsewhere.begin();
    Parts others;
    for (uint32_t i = 0; i < batch.keys.size(); i++) {
        const Key key = batch.keys[i];
        const char *end = value + segment_.value_bytes(key);
        if (next == elsewhere.end() || *next != i) {
            answer->positions.push_back(batch.position(i));
            if (pull) answer->values.insert(answer->values.end(), value, end);
        } else {
            ++next;
            uint32_t channel = is_for_any ? segment_.channel_rule().channel(key) : channel_;
            if (channel == channel_) {
                Request single{batch.operation, batch.origin(i), {}};
                if (!pull) single.value.assign(value, end);
                protocol_.receive(key, std::move(single), batch.from_home);
            } else {
                RequestBatch &part = others[channel];
                part.keys.push_back(key);
                part.positions.push_back(batch.position(i));
                if (!pull) part.values.insert(part.values.end(), value, end);
            }
        }
        value = end;
    }
    pass_on(header, batch, std::move(others));
}

// With backups: a value changes once its keepers have what it will be.
void Serving::leave_writes(const FrameHeader &header, const RequestBatch &batch, ValueBytes values) {
    if (header.channel != any_channel || segment_.channel_rule().channels() == 1) {
        return protocol_.receive_writes(batch.keys, batch.positions, batch.operation, batch.origin(0), values.at,
                                        batch.from_home);
    }
    Parts parts;
    const char *value = values.at;
    for (uint32_t i = 0; i < batch.keys.size(); i++) {
        const Key key = batch.keys[i];
        RequestBatch &part = parts[segment_.channel_rule().channel(key)];
        part.keys.push_back(key);
        part.positions.push_back(batch.position(i));
        const char *end = value + segment_.value_bytes(key);
        part.values.insert(part.values.end(), value, end);
        value = end;
    }
    auto mine = parts.extract(channel_);
    if (!mine.empty()) {
        const RequestBatch &part = mine.mapped();
        protocol_.receive_writes(part.keys, part.positions, batch.operation, batch.origin(0), part.values.data(),
                                 batch.from_home);
    }
    pass_on(header, batch, std::move(parts));
}

// Pass on the parts of a request for other channels, as requests of the same worker.
void Serving::pass_on(FrameHeader header, const RequestBatch &of, Parts parts) {
    for (auto &[channel, part] : parts) {
        part.operation = of.operation;
        part.node = of.node;
        part.worker = of.worker;
        part.number = of.number;
        part.behind = of.behind;
        header.channel = channel & 0xff;
        channel == channel_ ? localize_here(part) : pass_on_(channel, of.node, of.worker, part.encode(header));
    }
}

// Make rows for the keys that belong to this channel and have none. False: there is no room for one of them.
bool Serving::make_rows(const FrameHeader &header, const std::vector<Key> &keys) {
    if (segment_.header().is_range()) return true;
    std::vector<Key> rowless;
    Load load(segment_);
    for (Key key : keys)
        if (segment_.row(key) == no_row && is_mine(header, key)) {
            rowless.push_back(key);
            load.add(segment_.key_space().length_class(key), segment_.class_of(key).slot_bytes);
        }
    if (rowless.empty()) return true;
    auto has_room = [&] { return promises_.promise(channel_, Kept::alone, promised(), load); };
    if (!values_.make_room(load, has_room, keys) || !values_.make_rows(rowless, keys)) return false;
    for (size_t i = 0; i < rowless.size() && use_counts_; i++) use_counts_->forget(rowless[i]);
    return true;
}

bool Serving::is_mine(const FrameHeader &header, Key key) const {
    return header.channel != any_channel || segment_.channel_rule().channel(key) == channel_;
}

uint64_t Serving::promised() const { return admitted_ + protocol_.asked() * segment_.header().undo_bytes; }

// For intents that have begun. Keys without room stay where they are.
void Serving::want(const std::vector<Key> &keys, bool for_long) {
    if (!segment_.header().memory_limit && segment_.header().is_range()) {
        protocol_.want(keys, for_long);
        return;
    }
    std::vector<Key> admitted;
    uint64_t bytes = 0; // what the keys take at most, which is as replicas
    for (Key key : keys) {
        if (protocol_.awaits_admission(key) || !values_.make_rows({key}, keys)) continue;
        Place place = segment_.place(key);
        Load more(segment_);
        more.add(place.length_class(), segment_.length_class(place.length_class()).shared_bytes);
        if (place.residence() == Residence::absent) {
            if (!promises_.promise(channel_, Kept::shared, promised() + bytes, more)) continue;
            bytes += more.bytes();
        }
        admitted.push_back(key);
    }
    count_in(segment_.header().keys_without_room, int64_t(keys.size() - admitted.size()));
    protocol_.want(admitted, for_long && !segment_.header().memory_limit);
}

void Serving::serve_about_rows(const RequestBatch &batch) {
    if (segment_.header().is_range()) throw Malformed("it is about rows, which keys of a range always have");
    for (uint32_t i = 0; i < batch.keys.size(); i++)
        protocol_.receive(batch.keys[i], Request{batch.operation, batch.origin(i), {}}, not_from_home);
}

void Serving::localize(const FrameHeader &header, const RequestBatch &batch) {
    if (header.channel != any_channel) return localize_here(batch);
    Parts parts;
    Promises::ByChannel loads;
    for (uint32_t i = 0; i < batch.keys.size(); i++) {
        uint32_t channel = segment_.channel_rule().channel(batch.keys[i]);
        parts[channel].keys.push_back(batch.keys[i]);
        parts[channel].positions.push_back(batch.position(i));
    }
    for (const auto &[channel, part] : parts)
        loads.emplace(channel, load_of_absent(segment_, part.keys.data(), part.keys.size()));
    const Load all = load_of_absent(segment_, batch.keys.data(), batch.keys.size());
    auto has_room = [&] { return promises_.promise_to(batch.worker, batch.number, all, loads); };
    if (!values_.make_room(all, has_room, batch.keys)) return refuse(batch);
    pass_on(header, batch, std::move(parts));
}

void Serving::refuse(const RequestBatch &batch) {
    AnswerBatch answer = AnswerBatch::to(batch);
    answer.positions = batch.positions;
    answer.refused = true;
    mailbox_.answer_whole(answer);
}

void Serving::localize_here(const RequestBatch &batch) {
    if (trace_) trace_->note(batch.keys, PS_TRACE_LOCALIZE);
    const std::vector<Key> keys = use_counts_ ? admitted(batch.keys) : batch.keys;
    const Load load = load_of_absent(segment_, keys.data(), keys.size());
    auto has_room = [&] {
        return promises_.take(channel_, batch.worker, batch.number, promised(), load) || load.bytes() == 0;
    };
    if (!values_.make_room(load, has_room, keys) || !values_.make_rows(keys)) return refuse(batch);
    uint64_t number = ++last_waiter_;
    Waiter &waiter = waiters_[number];
    waiter.bytes = load.bytes();
    waiter.answer = AnswerBatch::to(batch);
    waiter.answer.positions = batch.positions;
    waiter.left = waiter.answer.count;
    admitted_ += load.bytes();
    protocol_.localize(keys, number);
    for (size_t left = batch.keys.size() - keys.size(); left > 0; left--) landed(number, no_node); // they are here
}

bool Serving::has_room_for(const std::vector<Key> &keys) {
    const Load load = load_of_absent(segment_, keys.data(), keys.size());
    auto has_room = [&] { return promises_.promise(channel_, Kept::alone, promised(), load) || load.bytes() == 0; };
    return values_.make_room(load, has_room, keys) && values_.make_rows(keys);
}

void Serving::forget_waiters() {
    waiters_.clear();
    admitted_ = 0;
    promises_.forget(channel_);
}

void Serving::landed(uint64_t number, NodeId lost_with) {
    Waiter &waiter = waiters_.at(number);
    waiter.answer.note_failure(lost_with);
    if (--waiter.left > 0) return;
    mailbox_.answer_whole(waiter.answer);
    admitted_ -= waiter.bytes;
    waiters_.erase(number);
}

} // namespace ps
