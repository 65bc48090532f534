// How a simulated worker begins operations.
#pragma once

#include "client.h"
#include "wire/bounds.h"
#include "wire/replicas.h"

namespace ps::clients {

inline FrameHeader header_of(NodeId node) {
    FrameHeader header;
    header.from = node;
    header.cluster = cluster;
    return header;
}

inline Client::Client(Surroundings &world, const Store &store, const WideShape &shape, NodeId node, uint64_t number,
                      bool asks_again)
    : world_(world), store_(store), shape_(shape), node_(node), number_(number), slot_(uint32_t(7 + number)),
      in_flight_(world.draw(3) ? 24 + world.draw(world.draw(2) ? 40 : 200) : 1 << 20),
      longest_(world.draw(2) ? 20 + world.draw(60) : 1 << 20), asks_again_(asks_again),
      requests_(header_of(node), shape, {uint32_t(number), slot_, 8, in_flight_, patience_, longest_, asks_again},
                *this, *this),
      memories_(4), welcome_(shape.num_channels), settled_(shape.num_channels) {}

inline bool Client::is_done_here(Operation operation, Key key) const {
    return !(asks_again_ && is_write(operation)) && is_here(*store_.values, operation, key);
}

inline bool Client::operate(Operation operation, std::vector<Key> keys) {
    Values &values = *store_.values;
    for (Key key : keys)
        if ((*store_.stops)[key] && is_done_here(operation, key)) return false;
    Record record;
    record.operation = operation;
    record.memory = world_.draw(memories_.size());
    record.begin = record.end = 8 * world_.draw(5);
    for (Key key : keys) {
        record.offsets.push_back(record.end);
        record.end += shape_.value_bytes(key);
    }
    record.keys = keys;
    Memory &memory = memories_[record.memory];
    REQUIRE(record.end <= Memory::size);
    ps_request request{int32_t(operation),
                       0,
                       reinterpret_cast<const int64_t *>(record.keys.data()),
                       int64_t(keys.size()),
                       memory.at(record.begin),
                       int64_t(record.end - record.begin) / 8,
                       0,
                       -1,
                       0};
    if (must_wait(request, record)) return false;
    std::vector<size_t> elsewhere;
    for (size_t i = 0; i < keys.size(); i++)
        if (!is_done_here(operation, keys[i])) elsewhere.push_back(i);
    uint64_t bytes = keys.size() * sizeof(Key) + record.end - record.begin;
    REQUIRE(requests_.in_flight().has_room(bytes) == has_room(bytes));
    if (!elsewhere.empty() && !(requests_.questions().is_introduced() && has_room(bytes))) return false;
    for (size_t i = 0; i < keys.size(); i++) {
        record.plans.push_back(world_.plan(number_, operation, keys[i]));
        bool is_pull = operation == Operation::pull;
        memory.write(record.offsets[i], is_pull ? Bytes(shape_.value_bytes(keys[i]), char(world_.draw(256)))
                                                : widen(shape_, keys[i], record.plans[i].operand));
    }
    for (size_t i = 0; i < keys.size(); i++) {
        if (!is_done_here(operation, keys[i])) continue;
        int64_t number = do_here(values, operation, keys[i], record.plans[i].operand);
        if (operation == Operation::pull) memory.write(record.offsets[i], widen(shape_, keys[i], number));
        world_.finish(number_, operation, keys[i], record.plans[i], number);
    }
    record.positions = elsewhere;
    if (!elsewhere.empty()) start(request, std::move(record));
    conclude();
    return true;
}

// What the shipped half says, and what must be so. Keys that were localized may make it wait once too often.
inline bool Client::must_wait(const ps_request &request, const Record &record) {
    auto operation = Operation(request.operation);
    bool must = false, may = false, fills = false;
    for (auto &[timestamp, other] : records_) {
        fills |= other.fills(record.memory, record.begin, record.end);
        for (Key key : record.keys) {
            if (!other.has_unanswered(key)) continue;
            bool differs = other.operation != operation || operation == Operation::set;
            must |= differs && other.operation != Operation::localize;
            may |= differs || localized_.count(key);
        }
    }
    bool conflicts = requests_.conflicts(request);
    REQUIRE(conflicts ? may : !must);
    if (conflicts) REQUIRE(requests_.next_conflict(request, 0) < request.num_keys);
    follows_ = conflicts && requests_.may_follow(request);
    for (Key key : record.keys) // what has come here is not pulled before what was pushed elsewhere
        if (is_underway(key) && is_done_here(operation, key)) follows_ = false;
    int64_t filling = requests_.filling(request);
    REQUIRE((filling >= 0) == fills);
    if (fills) REQUIRE(records_.at(filling).fills(record.memory, record.begin, record.end));
    return (conflicts && !follows_) || fills;
}

inline bool Client::is_underway(Key key) const {
    return std::any_of(records_.begin(), records_.end(), [&](const auto &known) {
        return known.second.operation != Operation::pull && known.second.has_unanswered(key);
    });
}

inline uint64_t Client::bytes_in_flight() const {
    uint64_t bytes = 0;
    for (auto &[timestamp, record] : records_) bytes += record.bytes;
    return bytes;
}

inline bool Client::has_room(uint64_t bytes) const {
    return records_.empty() || bytes_in_flight() + bytes <= in_flight_;
}

inline void Client::start(const ps_request &request, Record record) {
    record.answered.resize(record.positions.size());
    std::vector<Key> sent;
    for (size_t i = 0; i < record.positions.size(); i++) {
        sent.push_back(record.key(i));
        record.bytes += sizeof(Key) + shape_.value_bytes(record.key(i));
    }
    bool has_all = sent.size() == record.keys.size() && world_.draw(2);
    std::vector<int64_t> positions(record.positions.begin(), record.positions.end());
    int64_t timestamp = has_all ? requests_.start(request, world_.now)
                                : requests_.start(request, positions, world_.now);
    trace("worker %d at %d starts operation %d, kind %d, %d keys, the first is %d", int(number_), node_, int(timestamp),
          int(record.operation), int(sent.size()), int(sent[0]));
    REQUIRE(timestamp == next_++ && sent_.size() == 1);
    seen_ = sent_[0].seen;
    check_sent(record, timestamp, expected_targets(sent));
    records_[timestamp] = std::move(record);
}

inline std::vector<NodeId> Client::expected_targets(const std::vector<Key> &keys) const {
    std::vector<NodeId> targets;
    for (size_t i = 0; i < keys.size(); i++) {
        NodeId seen = seen_.at(i);
        bool is_member = std::count(members_.begin(), members_.end(), seen);
        if (follows_ && is_underway(keys[i])) is_member = false; // it goes home
        uint64_t turn = shape_.is_range ? keys[i] : mix(keys[i]) >> 32;
        NodeId home = NodeId(turn % shape_.places());
        if (!std::count(members_.begin(), members_.end(), home)) {
            const uint64_t share = home * uint64_t(64) + turn / shape_.places() % 64;
            home = *std::max_element(members_.begin(), members_.end(), [&](NodeId one, NodeId other) {
                return mix(mix(share) + one) < mix(mix(share) + other);
            });
        }
        targets.push_back(is_member ? seen : home);
    }
    return targets;
}

// The messages have each key once, in order, with its value, for the right node, and none is too long.
inline void Client::check_sent(const Record &record, int64_t timestamp, const std::vector<NodeId> &targets) {
    std::set<size_t> told;
    std::vector<Message> messages = std::move(sent_.front().messages);
    sent_.erase(sent_.begin());
    for (auto &[to, bytes] : messages) {
        FrameReader reader(bytes.data(), bytes.size());
        FrameHeader header = decode_header(reader, cluster, shape_);
        ValueBytes values;
        RequestBatch batch = RequestBatch::decode(header, reader, shape_, &values);
        bool is_for_any = header.channel == any_channel;
        REQUIRE(!is_for_any || (batch.keys.size() > 1 && record.operation != Operation::set));
        for (Key key : batch.keys) REQUIRE(is_for_any || shape_.channels().channel(key) == header.channel);
        REQUIRE(header.kind == Kind::request && header.epoch == epoch_ && header.from == node_);
        REQUIRE(batch.operation == record.operation && int64_t(batch.number) == timestamp);
        REQUIRE(batch.node == node_ && batch.worker == number_ && !batch.from_home);
        REQUIRE(!batch.positions.empty() || batch.keys.size() == record.positions.size());
        uint64_t asked = 0;
        const char *value = values.at;
        for (uint32_t i = 0; i < batch.keys.size(); i++) {
            uint32_t position = batch.position(i);
            REQUIRE(position < record.positions.size() && batch.keys[i] == record.key(position));
            REQUIRE(i == 0 || batch.position(i - 1) < position);
            REQUIRE(!record.answered[position] && told.insert(position).second && to == targets[position]);
            bool is_localize = record.operation == Operation::localize;
            uint64_t length = is_localize ? 0 : shape_.value_bytes(batch.keys[i]);
            asked += bytes_per_key + length;
            if (values.bytes == 0) continue;
            REQUIRE(narrow(shape_, batch.keys[i], value) == record.plans[record.positions[position]].operand);
            value += length;
        }
        REQUIRE(batch.keys.size() == 1 || asked <= longest_);
        REQUIRE(value == values.at + values.bytes);
    }
    REQUIRE(long(told.size()) == std::count(record.answered.begin(), record.answered.end(), false));
}

inline bool Client::localize(const std::vector<Key> &keys) {
    Record record;
    record.operation = Operation::localize;
    record.keys = keys;
    for (size_t i = 0; i < keys.size(); i++) {
        record.positions.push_back(i);
        record.bytes += sizeof(Key) + shape_.value_bytes(keys[i]);
        localized_.insert(keys[i]);
    }
    record.answered.resize(keys.size());
    if (!requests_.questions().is_introduced() || !has_room(record.bytes)) return false;
    int64_t timestamp = requests_.localize(reinterpret_cast<const int64_t *>(keys.data()), int64_t(keys.size()),
                                           world_.now);
    trace("worker %d at %d localizes %d keys, the first is %d", int(number_), node_, int(keys.size()), int(keys[0]));
    REQUIRE(timestamp == next_++ && sent_.size() == 1);
    check_sent(record, timestamp, std::vector<NodeId>(keys.size(), node_));
    records_[timestamp] = std::move(record);
    return true;
}

// What its server has not read is bounded.
inline bool Client::intend(const std::vector<Key> &keys, bool begin) {
    uint64_t bytes = keys.size() * sizeof(Key);
    if (!requests_.questions().is_introduced()) return false;
    bool has_room = requests_.make_room_for_intents(bytes);
    if (!has_room) {
        REQUIRE(!requests_.questions().is_welcome() && awaits_welcome());
        return false;
    }
    REQUIRE(unread_ == 0 || unread_ + bytes <= in_flight_);
    unread_ += bytes;
    const auto *numbers = reinterpret_cast<const int64_t *>(keys.data());
    requests_.intent(numbers, int64_t(keys.size()), begin ? 0 : 1, begin ? 1 : 2);
    return true;
}

// A question waits for what was sent before, unless its worker goes on.
inline void Client::ask() {
    auto until = Until(world_.draw(3));
    if ((!records_.empty() && until != Until::told) || !requests_.questions().is_introduced()) return;
    Questions &questions = requests_.questions();
    if (!questions.is_settled()) {
        questions.keep(until);
        REQUIRE(!questions.take_kept(until == Until::quiet ? Until::exchanged : Until::quiet));
        questions.keep(until);
        REQUIRE(questions.take_kept(until) && !questions.take_kept(until));
    }
    requests_.ask(until);
    asked_++;
    REQUIRE(!questions.is_settled());
}

inline void Client::abandon_one() {
    if (records_.empty()) return;
    auto found = std::next(records_.begin(), long(world_.draw(records_.size())));
    trace("worker %d abandons operation %d", int(number_), int(found->first));
    requests_.abandon(found->first);
    found->second.abandoned = true;
    conclude();
}

inline bool Client::is_busy(Key key, Operation operation) const {
    for (auto &[timestamp, record] : records_)
        if (record.operation == operation && record.has_unanswered(key)) return true;
    return false;
}

// At times the worker's node has a wrong idea of where a key is, which may be anywhere.
inline void Client::find(const std::vector<Key> &keys, std::vector<NodeId> *nodes) const {
    store_.whereabouts->find(keys, nodes);
    for (size_t i = 0; i < keys.size(); i++) {
        REQUIRE((store_.values->standing(keys[i]) == Standing::absent) || (*nodes)[i] == node_);
        if ((*nodes)[i] != node_ && world_.draw(4) == 0) (*nodes)[i] = NodeId(world_.draw(shape_.nodes));
    }
    const_cast<Client *>(this)->seen_ = *nodes;
}

inline char *Client::reserve(NodeId to, uint64_t bytes) {
    reserved_.push_back({to, Bytes(bytes)});
    return reserved_.back().bytes.data();
}

inline void Client::send_reserved() {
    sent_.push_back({std::exchange(reserved_, {}), std::exchange(seen_, {})});
    for (Message &message : sent_.back().messages) world_.post_to_server(number_, message.to, message.bytes);
}

inline void Client::send(NodeId to, Bytes message) {
    REQUIRE(to == node_);
    FrameReader reader(message.data(), message.size());
    FrameHeader header = decode_header(reader, cluster, shape_);
    REQUIRE(header.epoch == epoch_);
    if (header.kind == Kind::hello) welcome_[header.channel] = false, hello_ = header.count;
    world_.post_to_server(number_, to, std::move(message));
}

} // namespace ps::clients
