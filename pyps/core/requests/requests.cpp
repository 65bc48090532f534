// How operations begin: what they wait for, and which nodes they are sent to.
#include "requests/requests.h"

#include <algorithm>
#include <utility>

#include "errors.h"
#include "wire/replicas.h"

namespace ps {

namespace {
constexpr uint32_t no_epoch = 0xffffff; // the highest number that a header can have

[[noreturn]] void fail_changed() { fail(PS_EINVAL, Where{}, "the keys were changed during the call"); }
} // namespace

Requests::Requests(const FrameHeader &header, const Shape &shape, const Settings &settings, Whereabouts &whereabouts,
                   Outbox &outbox)
    : header_(header), shape_(shape), each_(shape.uniform_bytes()), settings_(settings), whereabouts_(whereabouts),
      outbox_(outbox), rule_(shape.places(), {}, shape.keys()), questions_(shape.channels().channels()),
      in_flight_(settings.in_flight), announced_(settings.in_flight), since_hello_(settings.in_flight) {
    header_.epoch = no_epoch;
}

// Pulls may overtake pulls, and pushes pushes, so keys are looked at only when operations of another kind are on their
// way.
bool Requests::conflicts(const ps_request &request) {
    if (!is_among_others(Operation(request.operation))) return false;
    for (auto &[timestamp, sent] : sent_) note_keys(sent);
    return next_conflict(request, 0) < request.num_keys;
}

bool Requests::is_among_others(Operation operation) const {
    const uint32_t alike = operation == Operation::set ? 0 : underway_[int(operation)];
    return alike != sent_.size();
}

int64_t Requests::next_conflict(const ps_request &request, int64_t from) const {
    const int64_t *end = request.keys + request.num_keys;
    return std::find_if(request.keys + from, end,
                        [&](int64_t key) { return keys_.conflicts(uint64_t(key), Operation(request.operation)); }) -
           request.keys;
}

// Where keys have backups, an owner may answer a pull before a push that came earlier, whose backups are on their way.
// Where a replica here is about to end, what was pushed to it may come to the owner after the pull. And if the home is
// here, a replica may come to its server between the push and the pull, and answer that.
bool Requests::may_follow(const ps_request &request) const {
    if (request.operation != PS_PULL || shape_.channels().channels() > 1 || settings_.asks_again) return false;
    std::vector<Key> keys;
    for (int64_t i = 0; (i = next_conflict(request, i)) < request.num_keys; i++) {
        const Key key = Key(request.keys[i]);
        if (!keys_.are_all_at_home(key) || rule_.home(key) == header_.from) return false;
        keys.push_back(key);
    }
    std::vector<NodeId> nodes(keys.size(), header_.from);
    whereabouts_.find(keys, &nodes);
    return std::find(nodes.begin(), nodes.end(), header_.from) == nodes.end();
}

void Requests::note_keys(Sent &sent) {
    if (sent.noted) return;
    sent.noted = true;
    for (size_t i = 0; i < sent.keys.size(); i++)
        if (!sent.is_answered(i)) keys_.add(sent.keys[i], sent.operation, !sent.strays.empty() && sent.strays[i]);
}

int64_t Requests::filling(const ps_request &request) const {
    return buffers_.filling(static_cast<const char *>(request.values), bytes_of(request));
}

// Checks a copy of the keys: the caller may change its own during the call.
void Requests::check(const std::vector<Key> &keys) const {
    const KeySpace space = shape_.keys();
    for (Key key : keys)
        if (!space.has(key)) fail_changed();
}

Requests::Sent Requests::prepare(const ps_request &request) const {
    Sent sent;
    sent.operation = Operation(request.operation);
    sent.values = static_cast<char *>(request.values);
    return sent;
}

int64_t Requests::start(const ps_request &request, double now) {
    Sent sent = prepare(request);
    sent.keys.assign(request.keys, request.keys + request.num_keys);
    check(sent.keys);
    if (!each_) sent.spans = spans_of(sent.keys, request);
    return note_buffer(request, send(std::move(sent), now));
}

int64_t Requests::start(const ps_request &request, const std::vector<int64_t> &positions, double now) {
    Sent sent = prepare(request);
    sent.keys.reserve(positions.size());
    for (int64_t position : positions) sent.keys.push_back(Key(request.keys[position]));
    check(sent.keys);
    sent.spans.reserve(positions.size());
    if (each_) {
        for (int64_t position : positions) sent.spans.push_back({sent.values + uint64_t(position) * each_, each_});
    } else {
        std::vector<Key> keys(request.keys, request.keys + positions.back() + 1);
        check(keys);
        std::vector<ValueSpan> spans = spans_of(keys, request);
        for (int64_t position : positions) sent.spans.push_back(spans[size_t(position)]);
    }
    return note_buffer(request, send(std::move(sent), now));
}

std::vector<ValueSpan> Requests::spans_of(const std::vector<Key> &keys, const ps_request &request) const {
    std::vector<ValueSpan> spans;
    spans.reserve(keys.size());
    char *values = static_cast<char *>(request.values);
    uint64_t left = bytes_of(request);
    for (uint64_t bytes : shape_.lengths(keys)) {
        if (bytes > left) fail_changed();
        spans.push_back({values, bytes});
        values += bytes;
        left -= bytes;
    }
    return spans;
}

// Note which buffer a pull writes to. This is done only after it was sent: a pull that could not be sent writes
// nowhere, and if an epoch begins, only pulls that were sent are ended.
int64_t Requests::note_buffer(const ps_request &request, int64_t timestamp) {
    if (request.operation == PS_PULL)
        buffers_.add(static_cast<const char *>(request.values), bytes_of(request), timestamp);
    return timestamp;
}

int64_t Requests::localize(const int64_t *keys, int64_t num_keys, double now) {
    Sent sent;
    sent.operation = Operation::localize;
    sent.keys.assign(keys, keys + num_keys);
    return send(std::move(sent), now);
}

int64_t Requests::ask_about_rows(Operation operation, const int64_t *keys, int64_t num_keys, uint8_t *answers,
                                 double now) {
    Sent sent;
    sent.operation = operation;
    sent.keys.assign(keys, keys + num_keys);
    check(sent.keys);
    sent.values = reinterpret_cast<char *>(answers);
    for (int64_t i = 0; i < num_keys; i++) sent.spans.push_back({sent.values + i, 1});
    return send(std::move(sent), now);
}

int64_t Requests::send(Sent sent, double now) {
    sent.bytes = sent.keys.size() * sizeof(Key) + (is_about_rows(sent.operation) ? sent.keys.size()
                                                   : each_                       ? each_ * sent.keys.size()
                                                                                 : shape_.total_bytes(sent.keys));
    sent.left = sent.keys.size();
    sent.began = now;
    if (settings_.asks_again && is_write(sent.operation)) keep_values(sent);
    depart(next_, sent);
    underway_[int(sent.operation)]++;
    in_flight_.add(sent.bytes);
    sent_.emplace(next_, std::move(sent));
    return next_++;
}

void Requests::keep_values(Sent &sent) const {
    if (sent.spans.empty()) {
        sent.kept.assign(sent.values, sent.values + sent.keys.size() * each_);
    } else {
        for (const ValueSpan &span : sent.spans) sent.kept.insert(sent.kept.end(), span.at, span.at + span.bytes);
        char *at = sent.kept.data();
        for (ValueSpan &span : sent.spans) span.at = std::exchange(at, at + span.bytes);
    }
    sent.values = sent.kept.data();
}

// How far back the first operation is that a server may be asked for again or still.
uint32_t Requests::behind(int64_t timestamp) {
    while (oldest_ < timestamp && !sent_.count(oldest_)) oldest_++;
    return uint32_t(std::min<int64_t>(timestamp - std::min(oldest_, first_given_up_), UINT32_MAX));
}

void Requests::depart(int64_t timestamp, Sent &sent, std::vector<uint32_t> positions) {
    RequestBatch head;
    head.operation = sent.operation;
    head.node = header_.from;
    head.worker = settings_.worker;
    head.number = uint64_t(timestamp);
    if (settings_.asks_again) head.behind = behind(timestamp);
    const bool is_own = sent.operation == Operation::localize;
    uint64_t value_bytes = is_own ? 0 : sent.bytes - sent.keys.size() * sizeof(Key);
    std::vector<NodeId> targets = targets_of(sent);
    Departure departure{header_, head,        shape_.channels(), sent.keys,           targets, sent.spans, sent.values,
                        each_,   value_bytes, settings_.longest, std::move(positions)};
    departure.write(shape_.places(), outbox_);
    outbox_.send_reserved();
}

// The nodes to ask: where each key was seen last, or its home. Keys that are on their way to this node or have a
// replica here go to this node's own server, and so does a localize. What is about rows goes to the homes, and so does
// a pull that follows a push, wherever its key was seen since.
std::vector<NodeId> Requests::targets_of(Sent &sent) const {
    std::vector<NodeId> targets(sent.keys.size(), header_.from);
    if (sent.operation == Operation::localize) return targets;
    if (is_about_rows(sent.operation))
        targets.assign(targets.size(), no_node);
    else
        whereabouts_.find(sent.keys, &targets);
    const bool may_follow = sent.operation == Operation::pull && is_among_others(sent.operation);
    auto follows = [&](Key key) {
        return may_follow && keys_.conflicts(key, sent.operation) && keys_.are_all_at_home(key);
    };
    for (size_t i = 0; i < targets.size(); i++) {
        const Key key = sent.keys[i];
        const bool is_known = targets[i] != no_node && rule_.is_member(targets[i]);
        if (is_known && !follows(key)) {
            if (targets[i] == rule_.home(key)) continue;
            sent.strays.resize(targets.size());
            sent.strays[i] = true;
        } else {
            targets[i] = rule_.home(key);
        }
    }
    return targets;
}

void Requests::intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end) {
    for (InFlight *intents : {&announced_, &since_hello_}) intents->add(uint64_t(num_keys) * sizeof(Key));
    const ChannelRule rule = shape_.channels();
    if (rule.channels() == 1) return announce(0, keys, num_keys, first, end);
    std::vector<std::vector<int64_t>> by_channel(rule.channels());
    for (int64_t i = 0; i < num_keys; i++) by_channel[rule.channel(Key(keys[i]))].push_back(keys[i]);
    for (uint32_t channel = 0; channel < rule.channels(); channel++)
        announce(channel, by_channel[channel].data(), int64_t(by_channel[channel].size()), first, end);
}

void Requests::announce(uint32_t channel, const int64_t *keys, int64_t num_keys, int64_t first, int64_t end) {
    FrameHeader header = header_;
    header.channel = channel & 0xff;
    const auto most = int64_t(std::max(settings_.longest / sizeof(Key), uint64_t(1)));
    for (; num_keys > 0; keys += most, num_keys -= most) {
        IntentBatch batch{settings_.slot, first, end, {keys, keys + std::min(num_keys, most)}};
        outbox_.send(header_.from, batch.encode(header));
    }
}

template <class Message>
void Requests::send_to_own_channels(Message &&message) {
    FrameHeader header = header_;
    for (uint32_t channel = 0; channel < shape_.channels().channels(); channel++) {
        header.channel = channel & 0xff;
        outbox_.send(header_.from, message(header));
    }
}

// The server answers a hello with welcome when it has read all intents that were sent before.
bool Requests::make_room_for_intents(uint64_t bytes) {
    if (announced_.has_room(bytes)) return true;
    if (questions_.is_welcome()) say_hello();
    return false;
}

void Requests::say_hello() {
    const uint32_t number = questions_.say_hello();
    since_hello_.clear();
    send_to_own_channels([&](FrameHeader hello) {
        hello.kind = Kind::hello;
        hello.count = number;
        return FrameWriter(hello).take();
    });
}

void Requests::ask(Until until) {
    SettleMessage question = questions_.ask(until);
    send_to_own_channels([&](const FrameHeader &header) { return question.encode(header); });
}

} // namespace ps
