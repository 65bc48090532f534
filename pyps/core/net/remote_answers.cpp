// What comes back of a worker's operations: values, straight into the caller's buffer, and where the keys are.
#include <cstring>
#include <utility>

#include "counting.h"
#include "net/refusals.h"
#include "net/remote.h"
#include "segment/process.h"

namespace ps {

namespace {
constexpr char other_length[] = "its values have another length than the keys'";
} // namespace

void Remote::receive() {
    look_at_epoch();
    for (ZmqMessage frame; connections_.receive(&frame);) receive(frame);
}

void Remote::receive(const ZmqMessage &frame) {
    try {
        FrameReader reader(frame.data(), frame.size());
        FrameHeader header = decode_header(reader, header_.cluster, shape_);
        if (header.kind == Kind::welcome) {
            welcome_ = true;
            return;
        }
        if (header.kind == Kind::settle) {
            settled_ = SettleMessage::decode(header, reader).number;
            return;
        }
        if (header.epoch < header_.epoch) return; // it has been given up
        if (header.kind != Kind::answer) throw Malformed("it is not for a worker");
        Span values;
        AnswerBatch answer = AnswerBatch::decode(header, reader, shape_, &values);
        take(answer, header.from, values);
    } catch (const Malformed &error) {
        count_refusal(segment_.header(), error.what());
    }
}

void Remote::take(const AnswerBatch &answer, NodeId from, Span values) {
    auto found = operations_.find(int64_t(answer.number));
    if (found == operations_.end()) {
        if (int64_t(answer.number) < given_up_) return;
        throw Malformed("it answers nothing that is on its way");
    }
    Operation &operation = found->second;
    if (answer.count > operation.left) throw Malformed("it answers more keys than are on their way");
    bool pull = operation.operation == ps::Operation::pull;
    uint64_t each = shape_.uniform_bytes();
    if (answer.lost_with != no_node) operation.lost_with = answer.lost_with;
    if (answer.refused) operation.lost_with = no_room;
    if (answer.lost_with == no_node && answer.whole && answer.count == operation.keys.size() && each &&
        operation.places.empty()) {
        if (values.bytes != (pull ? each * answer.count : 0)) throw Malformed(other_length);
        if (pull && operation.values) std::memcpy(operation.values, values.at, values.bytes);
    } else {
        take_part(operation, answer, values);
    }
    if (answer.forwarded && answer.lost_with == no_node && from != header_.from) remember(operation, answer, from);
    if (operation.noted)
        for (uint32_t i = 0; i < answer.count; i++) keys_.remove(operation.keys[answer.position(i)]);
    operation.left -= answer.count;
    if (operation.left > 0) return;
    count_end(operation);
    if (operation.lost_with != no_node) failures_.add(found->first, operation.lost_with);
    drop(found);
}

void Remote::drop(std::unordered_map<int64_t, Operation>::iterator found) {
    const Operation &operation = found->second;
    if (operation.operation != ps::Operation::localize) underway_[int(operation.operation)]--;
    if (operation.operation == ps::Operation::pull) filled_.erase(operation.values);
    in_flight_.remove(operation.bytes);
    operations_.erase(found);
}

void Remote::count_end(const Operation &operation) {
    Counters &counters = segment_.slot(slot_).counters;
    auto ns = int64_t((monotonic_seconds() - operation.sent) * 1e9);
    add_to(counters.remote_operations, 1);
    add_to(counters.remote_wait_ns, ns);
    raise_to(counters.longest_remote_ns, ns);
}

void Remote::take_part(Operation &operation, const AnswerBatch &answer, Span values) {
    bool pull = operation.operation == ps::Operation::pull && answer.lost_with == no_node;
    const uint64_t each = shape_.uniform_bytes();
    uint64_t bytes = 0;
    operation.answered.resize(operation.keys.size());
    uint32_t marked = 0;
    auto refuse = [&](const char *reason) {
        while (marked > 0) operation.answered[answer.position(--marked)] = false;
        throw Malformed(reason);
    };
    for (; marked < answer.count; marked++) {
        uint32_t position = answer.position(marked);
        if (position >= operation.keys.size() || operation.answered[position])
            refuse("it answers a key that is not on its way");
        operation.answered[position] = true;
        if (pull) bytes += each ? each : segment_.value_bytes(operation.keys[position]);
    }
    if (bytes != values.bytes) refuse(other_length);
    if (!pull || !operation.values) return;
    const char *from = values.at;
    for (uint32_t i = 0; i < answer.count; i++) {
        uint32_t position = answer.position(i);
        uint64_t length = each ? each : segment_.value_bytes(operation.keys[position]);
        std::memcpy(operation.places.empty() ? operation.values + position * length : operation.places[position], from,
                    length);
        from += length;
    }
}

// The next operation asks the owner that answered. Should the key have moved on, that one sends it to the home.
void Remote::remember(const Operation &operation, const AnswerBatch &answer, NodeId owner) {
    for (uint32_t i = 0; i < answer.count; i++) {
        Entry &entry = segment_.entry(operation.keys[answer.position(i)]);
        uint64_t word = entry.load(std::memory_order_relaxed);
        Place place(word), seen(Residence::absent, place.length_class(), seen_at(owner));
        if (place.residence() == Residence::absent && place.holder() == nobody)
            entry.compare_exchange_strong(word, seen.word(), std::memory_order_relaxed);
    }
}

} // namespace ps
