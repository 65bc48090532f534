#include "net/remote.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "errors.h"
#include "net/bounds.h"
#include "net/departure.h"
#include "segment/process.h"
#include "wire/replicas.h"
#include "worker/loss.h"

namespace ps {

namespace {
// A process that attached uses the library that the server uses.
const Segment &with_zmq(const Segment &segment) {
    if (!segment.header().connected.load(std::memory_order_acquire))
        fail(PS_EINVAL, Where{}, "the node is not connected to the others yet");
    load_zmq_unless_named(segment.header().zmq_path);
    return segment;
}
} // namespace

Remote::Remote(Segment &segment, std::shared_ptr<ZmqContext> inside, uint32_t worker, uint32_t slot, double patience,
               std::function<void()> check)
    : segment_(segment), shape_(with_zmq(segment)), header_(header_from(segment)), worker_(worker), slot_(slot),
      patience_(patience), check_(std::move(check)), rule_(NodeId(segment.header().num_nodes), {}),
      connections_(segment, std::move(inside), worker), in_flight_(segment.header().in_flight),
      announced_(segment.header().in_flight) {
    header_.epoch = no_epoch; // so that it looks at once
    say_hello();
}

// The server answers when it has read everything that was sent to it before.
void Remote::say_hello() {
    FrameHeader hello = header_;
    hello.kind = Kind::hello;
    welcome_ = false;
    connections_.send(header_.from, FrameWriter(hello).take());
}

// Operations of one kind may overtake each other, so that their keys matter only when another kind comes.
bool Remote::conflicts(const ps_request &request) {
    look_at_epoch();
    if (operations_.empty()) return false;
    bool set = request.operation == PS_SET;
    uint32_t alike = set ? 0 : underway_[request.operation];
    if (alike == operations_.size()) return false;
    for (auto &[number, operation] : operations_) note_keys(operation);
    return next_conflict(request, 0) < request.num_keys;
}

// The position, from `from` on, of a key that what is on its way does something else with; num_keys: there is none.
int64_t Remote::next_conflict(const ps_request &request, int64_t from) const {
    const int64_t *end = request.keys + request.num_keys;
    return std::find_if(request.keys + from, end,
                        [&](int64_t key) { return keys_.conflicts(uint64_t(key), uint8_t(request.operation)); }) -
           request.keys;
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
    operation.abandoned = true;
}

size_t Remote::pending() const {
    return size_t(std::count_if(operations_.begin(), operations_.end(),
                                [](const auto &known) { return !known.second.abandoned; }));
}

int64_t Remote::localize(const int64_t *keys, int64_t num_keys) {
    Operation operation;
    operation.operation = ps::Operation::localize;
    operation.keys.assign(keys, keys + num_keys);
    return send(std::move(operation));
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
    bool expects_nothing = operations_.empty() && welcome_ && settled_ == asked_ && given_up_ == 0;
    std::vector<Departure::Message> parts = departure.write(header_, shape_);
    for (Departure::Message &part : parts)
        connections_.send(part.to, part.message, expects_nothing && parts.size() == 1);
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
        connections_.send(header_.from, batch.encode(header_));
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

} // namespace ps
