// What a simulated worker gets back, and how its operations end.
#pragma once

#include "client.h"

namespace ps::clients {

inline void Client::receive(const Bytes &message) {
    if (is_dead_) return;
    FrameReader reader(message.data(), message.size());
    FrameHeader header = decode_header(reader, cluster, shape_);
    if (header.kind == Kind::answer && header.epoch >= epoch_) {
        ValueBytes values;
        AnswerBatch answer = AnswerBatch::decode(header, reader, shape_, &values);
        auto found = records_.find(int64_t(answer.number));
        if (found == records_.end()) {
            REQUIRE(int64_t(answer.number) < given_up_);
        } else {
            if (world_.draw(8) == 0) receive_damaged(message, answer, values.bytes > 0);
            if (world_.draw(8) == 0) receive_all_at_once(header, answer, found->second);
            expect(answer, header.from, values, found->second);
        }
    }
    uint64_t &settled = settled_[header.channel];
    if (header.kind == Kind::settle) settled = std::max(settled, SettleMessage::decode(header, reader).number);
    if (header.kind == Kind::welcome && header.count == hello_) welcome_[header.channel] = true;
    requests_.receive(message.data(), message.size());
    conclude();
    if (header.kind == Kind::answer && header.epoch >= epoch_ && world_.draw(8) == 0) receive_again(message);
}

// Whether it was refused.
inline bool Client::is_refused(const Bytes &message) {
    bool refused = false;
    try {
        requests_.receive(message.data(), message.size());
    } catch (const Malformed &) {
        refused = true;
    }
    return refused;
}

// An answer that does not fit changes nothing: its values are too short or too long, it names a position twice.
inline void Client::receive_damaged(Bytes message, const AnswerBatch &answer, bool has_values) {
    if (answer.positions.size() > 1 && world_.draw(2)) {
        char *positions = message.data() + sizeof(OperationHead);
        std::memcpy(positions + sizeof(uint32_t), positions, sizeof(uint32_t));
    } else if (has_values && world_.draw(2)) {
        message.resize(message.size() - 8);
    } else {
        message.insert(message.end(), 8, 0);
    }
    REQUIRE(is_refused(message));
    conclude();
}

// Nor does one to all keys, where some are answered.
inline void Client::receive_all_at_once(const FrameHeader &header, AnswerBatch answer, const Record &record) {
    if (std::find(record.answered.begin(), record.answered.end(), true) == record.answered.end()) return;
    answer.whole = true;
    answer.positions.clear();
    answer.count = uint32_t(record.positions.size());
    answer.values.clear();
    for (size_t i = 0; i < record.positions.size() && answer.operation == Operation::pull; i++)
        answer.values.insert(answer.values.end(), shape_.value_bytes(record.key(i)), 'x');
    if (answer.lost_with != no_node) answer.values.clear();
    REQUIRE(is_refused(answer.encode(header)));
    conclude();
}

// What was answered already is answered by nothing.
inline void Client::receive_again(const Bytes &message) {
    FrameReader reader(message.data(), message.size());
    FrameHeader header = decode_header(reader, cluster, shape_);
    ValueBytes values;
    auto number = int64_t(AnswerBatch::decode(header, reader, shape_, &values).number);
    bool is_known = number < given_up_ && !records_.count(number);
    REQUIRE(is_refused(message) != is_known);
    conclude();
}

// What it must do.
inline void Client::expect(const AnswerBatch &answer, NodeId from, ValueBytes values, Record &record) {
    bool is_lost = answer.lost_with != no_node;
    const char *value = values.at;
    for (uint32_t i = 0; i < answer.count; i++) {
        uint32_t position = answer.position(i);
        REQUIRE(position < record.answered.size() && !record.answered[position]);
        record.answered[position] = true;
        Key key = record.key(position);
        if (is_lost && record.operation != Operation::localize) world_.hear_lost(number_, key, answer.lost_with);
        if (is_lost || record.operation != Operation::pull) continue;
        if (!record.abandoned) memories_[record.memory].expect(record.offset(position), value, shape_.value_bytes(key));
        value += shape_.value_bytes(key);
    }
    REQUIRE(value == values.at + values.bytes);
    if (is_lost) record.failed = answer.lost_with;
    if (answer.refused) record.failed = no_room;
    if (answer.forwarded && !is_lost && from != node_) expected_owners_++;
    if (record.has_ended()) expected_ended_++;
}

inline void Client::note_owner(const std::vector<Key> &keys, const AnswerBatch &answer, NodeId owner) {
    noted_owners_++;
    REQUIRE(owner != node_ && answer.lost_with == no_node && answer.forwarded);
    const Record &record = records_.at(int64_t(answer.number));
    REQUIRE(keys.size() == record.positions.size());
    for (size_t i = 0; i < keys.size(); i++) REQUIRE(keys[i] == record.key(i));
    store_.whereabouts->note_owner(keys, answer, owner);
}

inline void Client::begin_epoch(uint32_t epoch, const std::vector<NodeId> &members, NodeId lost) {
    epoch_ = epoch;
    const bool is_loss = !std::includes(members.begin(), members.end(), members_.begin(), members_.end());
    members_ = members;
    requests_.begin_epoch(epoch, members, lost);
    REQUIRE(requests_.is_in(epoch));
    for (auto &[timestamp, record] : records_) {
        if (asks_again_ && !record.abandoned) {
            check_asked_again(timestamp, record);
            continue;
        }
        record.given_up = true;
        record.failed = is_loss ? lost : node_;
    }
    REQUIRE(sent_.empty());
    if (!introduced_) {
        introduced_ = true;
        requests_.say_hello();
    }
    conclude();
}

inline void Client::check_asked_again(int64_t timestamp, const Record &record) {
    std::vector<NodeId> targets(record.positions.size(), node_);
    if (record.operation != Operation::localize) {
        std::vector<Key> keys;
        for (size_t i = 0; i < record.positions.size(); i++)
            if (!record.answered[i]) keys.push_back(record.key(i));
        seen_ = sent_.at(0).seen;
        std::vector<NodeId> expected = expected_targets(keys);
        for (size_t i = 0, next = 0; i < targets.size(); i++)
            if (!record.answered[i]) targets[i] = expected[next++];
    }
    check_sent(record, timestamp, targets);
}

inline void Client::note_break(NodeId node) {
    if (is_dead_) return;
    breaks_.push_back({node, world_.now, next_});
    requests_.note_break(node, world_.now);
    conclude();
}

inline void Client::tick() {
    if (is_dead_) return;
    NodeId silent = no_node; // after this one the rest is for the next time
    while (silent == no_node && !breaks_.empty() && world_.now > breaks_.front().seen + patience_) {
        Break broken = breaks_.front();
        breaks_.erase(breaks_.begin());
        given_up_ = std::max(given_up_, broken.before);
        bool is_own = broken.node == node_;
        for (auto &[timestamp, record] : records_) {
            if (timestamp >= broken.before || record.given_up) continue;
            if (!is_own && record.operation == Operation::localize) continue;
            record.given_up = true;
            record.failed = broken.node;
        }
        if (!is_own || (!awaits_welcome() && is_settled())) continue;
        silent = node_;
        give_up_questions();
    }
    REQUIRE(requests_.give_up(world_.now) == silent);
    if (silent != no_node) REQUIRE(requests_.questions().are_answered());
    conclude();
}

// The account of the test and the shipped half agree; what has ended ends.
inline void Client::conclude() {
    for (const Memory &memory : memories_) memory.check();
    REQUIRE(told_ended_ == expected_ended_ && noted_owners_ == expected_owners_);
    size_t pending = 0, left = 0;
    uint64_t bytes = 0;
    for (auto next = records_.begin(); next != records_.end();) {
        auto found = next++;
        REQUIRE(requests_.is_on_its_way(found->first) == !found->second.has_ended());
        if (!found->second.has_ended()) {
            pending += !found->second.abandoned;
            left++;
            bytes += found->second.bytes;
            continue;
        }
        if (found->second.failed != no_node)
            untold_[found->first] = found->second.failed;
        else
            conclude(found->second);
        records_.erase(found);
    }
    for (auto next = untold_.begin(); next != untold_.end();) {
        auto [timestamp, failed] = *next;
        next = world_.draw(3) ? std::next(next) : untold_.erase(next);
        if (!untold_.count(timestamp)) tell(timestamp, failed);
    }
    REQUIRE(requests_.is_idle() == (left == 0) && requests_.pending() == pending);
    REQUIRE(requests_.in_flight().bytes() == bytes && requests_.in_flight().count() == left);
    const Questions &questions = requests_.questions();
    REQUIRE(questions.is_settled() == is_settled() && questions.is_welcome() == !awaits_welcome());
    REQUIRE(!requests_.is_issued(next_) && requests_.is_issued(next_ - 1));
    for (uint64_t before = 0; before < 4; before++)
        REQUIRE(questions.is_settled(before) ==
                (*std::min_element(settled_.begin(), settled_.end()) + before >= asked_));
    if (requests_.expects_nothing()) REQUIRE(left == 0 && is_settled() && given_up_ == 0 && !awaits_welcome());
}

// A failure is told once, and of nothing else.
inline void Client::tell(int64_t timestamp, NodeId failed) {
    REQUIRE(requests_.take_failure(timestamp) == failed);
    REQUIRE(requests_.take_failure(timestamp) == no_node);
}

inline void Client::conclude(const Record &record) {
    if (record.operation == Operation::localize) return;
    for (size_t i = 0; i < record.positions.size(); i++) {
        size_t position = record.positions[i];
        Key key = record.keys[position];
        bool is_pull = record.operation == Operation::pull;
        if (is_pull && record.abandoned) continue;
        int64_t value = is_pull ? narrow(shape_, key, memories_[record.memory].at(record.offsets[position])) : 0;
        world_.finish(number_, record.operation, key, record.plans[position], value);
    }
}

inline void Client::check_idle() {
    if (is_dead_) return;
    REQUIRE(records_.empty() && is_settled() && !awaits_welcome());
    conclude();
    for (auto [timestamp, failed] : std::exchange(untold_, {})) tell(timestamp, failed);
    REQUIRE(requests_.take_failures() == no_node);
}

} // namespace ps::clients
