#include "net/remote.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "batch.h"
#include "counting.h"
#include "errors.h"
#include "loss.h"
#include "net/bounds.h"
#include "net/departure.h"
#include "net/refusals.h"
#include "process.h"
#include "wire/replicas.h"

namespace ps {

namespace {
constexpr double welcome_timeout = 30.0; // seconds
constexpr double look_again_after = 0.1; // seconds: how soon a wait notices that there is nothing to wait for
constexpr char the_introduction[] = "the introduction to the node's server has";
constexpr char other_length[] = "its values have another length than the keys'";

[[noreturn]] void fail_late(double timeout, double patience, const char *what) {
    fail(patience < timeout ? PS_EBUSY : PS_ETIMEDOUT, Where{}, "%s not finished in time", what);
}

// A process that attached uses the library that the server uses.
const Segment &with_zmq(const Segment &segment) {
    if (!segment.header().connected.load(std::memory_order_acquire))
        fail(PS_EINVAL, Where{}, "the node is not connected to the others yet");
    load_zmq_unless_named(segment.header().zmq_path);
    return segment;
}
} // namespace

Remote::Remote(Segment &segment, uint32_t worker, uint32_t slot, double patience, std::function<void()> check)
    : segment_(segment), shape_(with_zmq(segment)), header_(header_from(segment)), worker_(worker), slot_(slot),
      patience_(patience), check_(std::move(check)), rule_(NodeId(segment.header().num_nodes), {}),
      context_(keys_of(segment), longest_message(segment.header())), sockets_(segment.header().num_nodes),
      watches_(segment.header().num_nodes), in_flight_(segment.header().in_flight),
      announced_(segment.header().in_flight) {
    header_.epoch = no_epoch; // so that it looks at once
    say_hello();
}

// The server answers when it has read everything that was sent to it before.
void Remote::say_hello() {
    FrameHeader hello = header_;
    hello.kind = Kind::hello;
    welcome_ = false;
    socket_to(header_.from).send(FrameWriter(hello).take());
}

void Remote::be_introduced(double patience) {
    if (is_introduced_) return;
    wait_until([&] { return welcome_; }, welcome_timeout, patience, the_introduction);
    is_introduced_ = true;
}

// Operations of one kind may overtake each other, so that their keys matter only when another kind comes.
bool Remote::conflicts(const ps_request &request) {
    look_at_epoch();
    if (operations_.empty()) return false;
    bool set = request.operation == PS_SET;
    uint32_t alike = set ? 0 : underway_[request.operation];
    if (alike == operations_.size()) return false;
    for (auto &[number, operation] : operations_) note_keys(operation);
    return std::any_of(request.keys, request.keys + request.num_keys, [&](int64_t key) {
        return keys_.conflicts(uint64_t(key), uint8_t(request.operation));
    });
}

void Remote::note_keys(Operation &operation) {
    if (operation.noted) return;
    operation.noted = true;
    for (size_t i = 0; i < operation.keys.size(); i++)
        if (!operation.is_answered(i)) keys_.add(operation.keys[i], uint8_t(operation.operation));
}

// The caller may change its keys meanwhile.
Key Remote::key_at(const ps_request &request, int64_t position) const {
    auto key = uint64_t(request.keys[position]);
    if (key >= shape_.num_keys()) fail(PS_EINVAL, Where{}, "the keys were changed during the call");
    return key;
}

int64_t Remote::start(const ps_request &request, const std::vector<int64_t> &positions) {
    Operation operation;
    operation.operation = ps::Operation(request.operation);
    operation.values = static_cast<char *>(request.values);
    operation.keys.reserve(positions.size());
    operation.places.reserve(positions.size());
    char *at = operation.values;
    int64_t done = 0;
    for (int64_t position : positions) {
        for (; done < position; done++) at += segment_.value_bytes(key_at(request, done));
        operation.keys.push_back(key_at(request, position));
        operation.places.push_back(at);
    }
    return note_buffer(request, send(std::move(operation)));
}

int64_t Remote::start(const ps_request &request) {
    Operation operation;
    operation.operation = ps::Operation(request.operation);
    operation.values = static_cast<char *>(request.values);
    operation.keys.assign(request.keys, request.keys + request.num_keys);
    for (Key key : operation.keys)
        if (key >= shape_.num_keys()) fail(PS_EINVAL, Where{}, "the keys were changed during the call");
    if (!shape_.uniform_bytes()) {
        char *at = operation.values;
        for (Key key : operation.keys) {
            operation.places.push_back(at);
            at += segment_.value_bytes(key);
        }
    }
    return note_buffer(request, send(std::move(operation)));
}

// Of an operation that was sent: what fails before fills nothing, and a new epoch ends only what was sent before.
int64_t Remote::note_buffer(const ps_request &request, int64_t timestamp) {
    if (request.operation != PS_PULL) return timestamp;
    char *begin = static_cast<char *>(request.values);
    filled_[begin] = {begin + uint64_t(request.num_values) * segment_.header().element_bytes, timestamp};
    return timestamp;
}

int64_t Remote::filling(const ps_request &request) const {
    if (filled_.empty() || request.num_values == 0) return -1;
    const auto *begin = static_cast<const char *>(request.values);
    const char *end = begin + uint64_t(request.num_values) * segment_.header().element_bytes;
    auto next = filled_.lower_bound(end);
    if (next == filled_.begin()) return -1;
    const Filled &last = std::prev(next)->second;
    return last.end > begin ? last.timestamp : -1;
}

void Remote::abandon(int64_t timestamp) {
    auto found = operations_.find(timestamp);
    if (found == operations_.end()) return;
    Operation &operation = found->second;
    if (operation.operation == ps::Operation::pull) filled_.erase(operation.values);
    operation.values = nullptr;
    operation.places.clear();
}

int64_t Remote::localize(const int64_t *keys, int64_t num_keys) {
    Operation operation;
    operation.operation = ps::Operation::localize;
    operation.keys.assign(keys, keys + num_keys);
    return send(std::move(operation));
}

// In a new epoch nobody answers what was asked in a former one.
void Remote::look_at_epoch() {
    uint32_t epoch = segment_.header().epoch.load(std::memory_order_acquire);
    if (epoch == header_.epoch) return;
    header_.epoch = epoch;
    std::vector<NodeId> members;
    for (NodeId node = 0; node < sockets_.size(); node++)
        if (is_member(segment_, node)) members.push_back(node);
    rule_ = HomeRule(NodeId(sockets_.size()), std::move(members));
    auto lost = NodeId(segment_.header().lost_last.load(std::memory_order_acquire));
    for (const auto &[number, operation] : operations_) failures_.add(number, lost);
    operations_.clear();
    in_flight_.clear();
    keys_ = {};
    filled_.clear();
    std::fill(std::begin(underway_), std::end(underway_), 0);
}

void Remote::require_not_failed(int64_t timestamp) {
    NodeId node = failures_.take(timestamp);
    if (node != no_node) fail_for(node);
}

void Remote::make_room(uint64_t bytes) {
    if (in_flight_.has_room(bytes)) return;
    char what[160];
    std::snprintf(what, sizeof what, "one of %zu operations on their way, with %llu bytes where in_flight is %llu, has",
                  in_flight_.count(), static_cast<unsigned long long>(in_flight_.bytes()),
                  static_cast<unsigned long long>(in_flight_.limit()));
    wait_until([&] { return in_flight_.has_room(bytes); }, default_wait_timeout, patience_, what);
}

void Remote::make_room_for_intents(uint64_t bytes) {
    if (announced_.has_room(bytes)) return;
    if (welcome_) say_hello();
    wait_until([&] { return welcome_; }, default_wait_timeout, patience_, the_introduction);
    announced_.clear();
}

int64_t Remote::send(Operation operation) {
    require_nobody_left(segment_);
    look_at_epoch();
    operation.sent = monotonic_seconds();
    look_for_breaks(operation.sent); // what broke before takes nothing of this one
    bool own = operation.operation == ps::Operation::localize;
    std::vector<NodeId> targets(operation.keys.size(), header_.from);
    if (!own)
        for (size_t i = 0; i < targets.size(); i++) targets[i] = target_of(operation.keys[i]);
    int64_t number = next_++;
    RequestBatch head;
    head.operation = operation.operation;
    head.node = header_.from;
    head.worker = worker_;
    head.number = uint64_t(number);
    operation.bytes = operation.keys.size() * sizeof(Key) + shape_.total_bytes(operation.keys);
    uint64_t value_bytes = own ? 0 : operation.bytes - operation.keys.size() * sizeof(Key);
    Departure departure{head, operation.keys, targets, operation.places, operation.values, value_bytes};
    for (Departure::Message &part : departure.write(header_, shape_)) socket_to(part.to).send(part.message);
    operation.left = operation.keys.size();
    if (!own) underway_[int(operation.operation)]++;
    in_flight_.add(operation.bytes);
    operations_.emplace(number, std::move(operation));
    return number;
}

void Remote::intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end) {
    announced_.add(uint64_t(num_keys) * sizeof(Key));
    constexpr int64_t most = most_for_worker / sizeof(Key);
    for (; num_keys > 0; keys += most, num_keys -= most) {
        IntentBatch batch{slot_, first, end, {keys, keys + std::min(num_keys, most)}};
        socket_to(header_.from).send(batch.encode(header_));
    }
}

// Where the key was seen last, or its home. What is on its way here, or must pass its replica here, goes to this node's
// own server.
NodeId Remote::target_of(Key key) const {
    Place place(segment_.entry(key).load(std::memory_order_relaxed));
    if (place.residence() != Residence::absent) return header_.from;
    NodeId seen = is_known(place.index()) ? NodeId(node_of(place.index())) : no_node;
    return seen != no_node && rule_.is_member(seen) ? seen : rule_.home(key);
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

ZmqSocket &Remote::socket_to(NodeId node) {
    if (!sockets_[node]) {
        auto socket = std::make_unique<ZmqSocket>(context_, ZmqSocket::dealer);
        socket->set(ZmqOption::routing_id, name_of_worker(header_.from, worker_, header_.cluster));
        const Header &shared = segment_.header();
        watches_[node] = std::make_unique<BreakWatch>(*socket, context_, shared.heartbeat, 2 * shared.lost_after);
        socket->connect(segment_.endpoint(node));
        connected_.push_back(socket.get());
        sockets_[node] = std::move(socket);
    }
    return *sockets_[node];
}

// What was on its way when a connection broke may be lost. First the node gets time to turn out as lost, which says more
// and ends these operations as well; most that were not lost are answered by then.
void Remote::look_for_breaks(double now) {
    if (now < look_at_) return;
    look_at_ = now + look_again_after;
    for (NodeId node = 0; node < watches_.size(); node++)
        if (watches_[node] && watches_[node]->has_broken()) breaks_.push_back({node, now, next_});
    while (!breaks_.empty() && now > breaks_.front().seen + 2 * segment_.header().heartbeat) {
        Break broken = breaks_.front();
        breaks_.pop_front();
        give_up(broken);
    }
}

// Any node may pass a request on to any other, and that one answers: only what this node's own server does by itself is
// sure to have taken no other way.
void Remote::give_up(const Break &broken) {
    bool own = broken.node == header_.from;
    given_up_ = std::max(given_up_, broken.before);
    for (auto next = operations_.begin(); next != operations_.end();) {
        auto found = next++;
        Operation &operation = found->second;
        if (found->first >= broken.before || (!own && operation.operation == ps::Operation::localize)) continue;
        if (operation.noted)
            for (size_t i = 0; i < operation.keys.size(); i++)
                if (!operation.is_answered(i)) keys_.remove(operation.keys[i]);
        failures_.add(found->first, broken.node);
        drop(found);
    }
    if (!own || (welcome_ && settled_ == asked_)) return;
    welcome_ = true; // nobody waits for it any more
    settled_ = asked_;
    asking_.reset();
    fail_for(broken.node);
}

void Remote::fail_for(NodeId node) const {
    if (segment_.member(node).state.load(std::memory_order_acquire) != Member::here) fail_lost(segment_, node);
    fail(PS_ELOST, Where{-1, node, 0},
         "this worker's connection to node %u broke: what was on its way may have been done or not", node);
}

void Remote::require_issued(int64_t timestamp) const {
    if (timestamp < -1 || timestamp >= next_)
        fail(PS_EINVAL, Where{-1, timestamp, next_ - 1},
             "timestamp %lld was not returned by an operation of this worker", static_cast<long long>(timestamp));
}

bool Remote::is_finished(int64_t timestamp) {
    require_issued(timestamp);
    receive();
    if (operations_.count(timestamp)) look_for_breaks(monotonic_seconds());
    if (operations_.count(timestamp)) return false;
    require_not_failed(timestamp);
    return true;
}

void Remote::wait(int64_t timestamp, double timeout) {
    require_issued(timestamp);
    wait_until([&] { return !operations_.count(timestamp); }, timeout, patience_, "an operation has");
    require_not_failed(timestamp);
}

void Remote::wait_all(double timeout) {
    wait_until([&] { return operations_.empty(); }, timeout, patience_, "the operations on their way have");
    if (!failures_.empty()) fail_for(failures_.take_all());
}

void Remote::settle(Until until, double timeout) {
    double start = monotonic_seconds();
    if (std::exchange(asking_, std::nullopt) != until) {
        wait_all(timeout);
        SettleMessage message{until, ++asked_};
        socket_to(header_.from).send(message.encode(header_));
    }
    double left = std::max(start + timeout - monotonic_seconds(), 0.0);
    if (is_in_time([&] { return settled_ == asked_; }, std::min(left, patience_))) return;
    if (patience_ < left) asking_ = until;
    fail_late(left, patience_, "the exchange with other nodes has");
}

bool Remote::is_in_time(const std::function<bool()> &done, double seconds) {
    double start = 0;
    for (;;) {
        receive();
        if (done()) return true;
        double now = monotonic_seconds();
        if (start == 0) start = now;
        look_for_breaks(now);
        if (now - start > seconds) return false;
        wait_for_any(connected_, -1, std::min(look_again_after, start + seconds - now));
        check_();
        require_nobody_left(segment_);
    }
}

void Remote::wait_until(const std::function<bool()> &done, double timeout, double patience, const char *what) {
    if (is_in_time(done, std::min(timeout, patience))) return;
    fail_late(timeout, patience, what);
}

void Remote::receive() {
    look_at_epoch();
    for (size_t i = 0; i < connected_.size(); i++) receive(*connected_[i]);
}

void Remote::receive(ZmqSocket &socket) {
    for (ZmqMessage frame; socket.receive(&frame);) {
        try {
            FrameReader reader(frame.data(), frame.size());
            FrameHeader header = decode_header(reader, header_.cluster, shape_);
            if (header.kind == Kind::welcome) {
                welcome_ = true;
                continue;
            }
            if (header.kind == Kind::settle) {
                settled_ = SettleMessage::decode(header, reader).number;
                continue;
            }
            if (header.epoch < header_.epoch) continue; // it has been given up
            if (header.kind != Kind::answer) throw Malformed("it is not for a worker");
            Span values;
            AnswerBatch answer = AnswerBatch::decode(header, reader, shape_, &values);
            take(answer, header.from, values);
        } catch (const Malformed &error) {
            count_refusal(segment_.header(), error.what());
        }
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
    if (answer.lost_with == no_node && answer.whole && answer.count == operation.keys.size() && each && operation.places.empty()) {
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

} // namespace ps
