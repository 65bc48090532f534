// A node's server, as far as simulated workers know it: reads their messages for its half of the protocol, gathers the
// answers to each of their operations, and sends them.
#pragma once

#include <functional>
#include <map>
#include <tuple>

#include "protocol/protocol.h"
#include "surroundings.h"
#include "wire/operations.h"
#include "wire/replicas.h"

namespace ps::clients {

class Desk {
public:
    Desk(Surroundings &world, const WideShape &shape, NodeId self) : world_(world), shape_(shape), self_(self) {}

    void take(Protocol &protocol, uint64_t worker, const Bytes &message, const std::function<void(Key, bool)> &intend);
    void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh);
    void refuse(const Origin &origin, NodeId lost_with);
    bool turn_away(const Protocol &protocol, Key key, const Request &request);
    void land(uint64_t waiter, NodeId lost_with = no_node); // what it waits for
    void flush(uint32_t epoch); // after each step
    void begin_epoch() { waiters_.clear(), answers_.clear(); }
    bool is_idle() const { return waiters_.empty(); }

private:
    struct Waiter {
        AnswerBatch answer;
        uint32_t left;
    };
    using Group = std::tuple<NodeId, uint32_t, uint64_t, bool, NodeId>; // origin, through its node, lost with

    void localize(Protocol &protocol, const RequestBatch &batch);
    void write(Protocol &protocol, const RequestBatch &batch, ValueBytes values);
    void send(AnswerBatch answer, uint32_t epoch, bool after_refresh);
    AnswerBatch &group(const Origin &origin, bool after_refresh, NodeId lost_with);

    Surroundings &world_;
    const WideShape &shape_;
    const NodeId self_;
    std::map<uint64_t, Waiter> waiters_;
    uint64_t last_waiter_ = 0;
    std::map<Group, AnswerBatch> answers_;
    std::vector<AnswerBatch> landed_;
    uint64_t whole_ = UINT64_MAX; // the number of an operation that this step got as a whole
    uint32_t whole_worker_ = 0, whole_count_ = 0;
};

inline void Desk::take(Protocol &protocol, uint64_t worker, const Bytes &message,
                       const std::function<void(Key, bool)> &intend) {
    FrameReader reader(message.data(), message.size());
    FrameHeader header = decode_header(reader, cluster, shape_);
    switch (header.kind) {
    case Kind::hello: header.kind = Kind::welcome; [[fallthrough]];
    case Kind::settle: {
        Bytes reply = message;
        header.from = self_;
        std::memcpy(reply.data(), &header, sizeof header);
        return world_.post_to_worker(self_, worker, std::move(reply));
    }
    case Kind::intent: {
        IntentBatch batch = IntentBatch::decode(header, reader, shape_);
        REQUIRE(batch.worker == 7 + worker && batch.end == batch.start + 1);
        for (Key key : batch.keys) intend(key, batch.start == 0);
        return;
    }
    default: REQUIRE(header.kind == Kind::request);
    }
    ValueBytes values;
    RequestBatch batch = RequestBatch::decode(header, reader, shape_, &values);
    REQUIRE(batch.worker == worker);
    if (protocol.is_empty()) return; // it is asked for again
    if (batch.operation == Operation::localize) return localize(protocol, batch);
    if (batch.positions.empty()) {
        whole_ = batch.number;
        whole_worker_ = batch.worker;
        whole_count_ = uint32_t(batch.keys.size());
    }
    if (is_write(batch.operation)) return write(protocol, batch, values);
    for (uint32_t i = 0; i < batch.keys.size(); i++) {
        Request request{batch.operation, batch.origin(i), {}};
        if (!turn_away(protocol, batch.keys[i], request))
            protocol.receive(batch.keys[i], std::move(request), batch.from_home);
    }
}

// Answers what is not for the protocol, as its key was not used often enough.
inline bool Desk::turn_away(const Protocol &protocol, Key key, const Request &request) {
    if (!world_.turns_away(protocol, key, request)) return false;
    answer(request.origin, key, request.operation == Operation::pull ? bytes_of(0) : Bytes(), false);
    return true;
}

inline void Desk::write(Protocol &protocol, const RequestBatch &batch, ValueBytes values) {
    Bytes numbers;
    std::vector<Key> keys;
    std::vector<uint32_t> positions;
    for (uint32_t i = 0; i < batch.keys.size(); i++) {
        const Key key = batch.keys[i];
        const Bytes number = bytes_of(narrow(shape_, key, values.at));
        values.at += shape_.value_bytes(key);
        if (turn_away(protocol, key, {batch.operation, batch.origin(i), number})) continue;
        numbers.insert(numbers.end(), number.begin(), number.end());
        keys.push_back(key);
        positions.push_back(batch.position(i));
    }
    if (keys.size() == batch.keys.size()) positions = batch.positions;
    if (keys.empty()) return;
    protocol.receive_writes(keys, positions, batch.operation, batch.origin(0), numbers.data(), batch.from_home);
}

// At times there is no room for the keys.
inline void Desk::localize(Protocol &protocol, const RequestBatch &batch) {
    uint64_t number = ++last_waiter_;
    Waiter &waiter = waiters_[number];
    waiter.answer = AnswerBatch::to(batch);
    waiter.answer.positions = batch.positions;
    waiter.left = waiter.answer.count;
    waiter.answer.refused = world_.draw(10) == 0;
    if (!waiter.answer.refused) {
        std::vector<Key> keys;
        std::copy_if(batch.keys.begin(), batch.keys.end(), std::back_inserter(keys),
                     [&](Key key) { return !protocol.awaits_admission(key); });
        protocol.localize(keys, number);
        for (size_t left = batch.keys.size() - keys.size(); left > 0; left--) land(number, no_node);
        return;
    }
    landed_.push_back(std::move(waiter.answer));
    waiters_.erase(number);
}

inline void Desk::land(uint64_t number, NodeId lost_with) {
    Waiter &waiter = waiters_.at(number);
    waiter.answer.note_failure(lost_with);
    if (--waiter.left > 0) return;
    landed_.push_back(std::move(waiter.answer));
    waiters_.erase(number);
}

inline AnswerBatch &Desk::group(const Origin &origin, bool after_refresh, NodeId lost_with) {
    AnswerBatch &answer = answers_[{origin.node, origin.worker, origin.operation, after_refresh, lost_with}];
    answer.node = origin.node;
    answer.worker = origin.worker;
    answer.number = origin.operation;
    answer.lost_with = lost_with;
    answer.count++;
    answer.positions.push_back(origin.position);
    return answer;
}

inline void Desk::answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) {
    AnswerBatch &answer = group(origin, after_refresh, no_node);
    answer.operation = value.empty() ? Operation::push : Operation::pull;
    if (value.empty()) return;
    Bytes wide = widen(shape_, key, number_of(value));
    answer.values.insert(answer.values.end(), wide.begin(), wide.end());
}

inline void Desk::refuse(const Origin &origin, NodeId lost_with) { group(origin, false, lost_with); }

inline void Desk::flush(uint32_t epoch) {
    for (AnswerBatch &answer : std::exchange(landed_, {})) send(std::move(answer), epoch, false);
    for (auto &[group, batch] : std::exchange(answers_, {})) {
        AnswerBatch answer = std::move(batch);
        bool is_whole = answer.number == whole_ && answer.worker == whole_worker_ && answer.count == whole_count_ &&
                        answer.lost_with == no_node;
        for (uint32_t i = 0; i < answer.count; i++) is_whole &= answer.positions[i] == i;
        answer.forwarded = !is_whole || world_.draw(2);
        if (is_whole && world_.draw(4)) {
            answer.whole = true;
            answer.positions.clear();
        }
        send(std::move(answer), epoch, std::get<3>(group));
    }
    whole_ = UINT64_MAX;
}

inline void Desk::send(AnswerBatch answer, uint32_t epoch, bool after_refresh) {
    FrameHeader header;
    header.from = self_;
    header.cluster = cluster;
    header.epoch = epoch;
    Bytes message = answer.encode(header);
    if (after_refresh && answer.node != self_)
        world_.post_through(self_, answer.node, answer.worker, std::move(message));
    else
        world_.post_to_worker(self_, answer.worker, std::move(message));
}

} // namespace ps::clients
