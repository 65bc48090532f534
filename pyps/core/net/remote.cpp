#include "net/remote.h"

#include <utility>

#include "counting.h"
#include "errors.h"
#include "net/bounds.h"
#include "net/refusals.h"
#include "net/schemes.h"
#include "segment/process.h"
#include "worker/loss.h"

namespace ps {

namespace {

const Segment &connected(const Segment &segment) {
    if (!segment.header().connected.load(std::memory_order_acquire))
        fail(PS_EINVAL, Where{}, "the node is not connected to the others yet");
    return segment;
}

std::unique_ptr<WorkerTransport> make_transport(const Segment &segment, const std::shared_ptr<Inside> &inside,
                                                uint32_t worker) {
    const Header &header = segment.header();
    auto node = NodeId(header.node);
    WorkerEnd end{{node, NodeId(header.places), name_of_worker(node, worker, header.cluster), keys_of(segment),
                   longest_message(header), heartbeats_within(2 * header.lost_after)},
                  [&segment](NodeId to) { return std::string(segment.endpoint(to)); },
                  header.library};
    return inside ? inside->connect(end) : make_worker_transport(end, segment.endpoint(node));
}

// Where keys have replicas, a broken connection is followed by an epoch without the node, in which all is asked again.
Requests::Settings settings_of(const Segment &segment, uint32_t worker, uint32_t slot) {
    const Header &header = segment.header();
    Requests::Settings settings{worker, slot, header.element_bytes, header.in_flight, 2 * header.heartbeat};
    settings.asks_again = header.replicas > 0;
    if (settings.asks_again) settings.break_patience += header.lost_after;
    return settings;
}

} // namespace

Remote::Remote(Segment &segment, std::shared_ptr<Inside> inside, uint32_t worker, uint32_t slot, double patience,
               std::function<void()> check)
    : segment_(segment), shape_(connected(segment)), whereabouts_(segment), header_(header_from(segment)), slot_(slot),
      patience_(patience), check_(std::move(check)), transport_(make_transport(segment, inside, worker)),
      requests_(header_, shape_, settings_of(segment, worker, slot), whereabouts_, *this) {
    look_at_epoch();
    requests_.say_hello();
}

bool Remote::conflicts(const ps_request &request) {
    look_at_epoch();
    return requests_.conflicts(request);
}

int64_t Remote::start(const ps_request &request, const std::vector<int64_t> &positions) {
    double now = begin_sending();
    int64_t timestamp = requests_.start(request, positions, now);
    show_pending();
    return timestamp;
}

int64_t Remote::start(const ps_request &request) {
    double now = begin_sending();
    int64_t timestamp = requests_.start(request, now);
    show_pending();
    return timestamp;
}

int64_t Remote::localize(const int64_t *keys, int64_t num_keys) {
    double now = begin_sending();
    int64_t timestamp = requests_.localize(keys, num_keys, now);
    show_pending();
    return timestamp;
}

int64_t Remote::ask_about_rows(Operation operation, const int64_t *keys, int64_t num_keys, uint8_t *answers) {
    double now = begin_sending();
    int64_t timestamp = requests_.ask_about_rows(operation, keys, num_keys, answers, now);
    show_pending();
    return timestamp;
}

void Remote::intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end) {
    requests_.intent(keys, num_keys, first, end);
}

// Looks for breaks first: a connection that broke before now has nothing to do with what is sent now.
double Remote::begin_sending() {
    require_nobody_left(segment_);
    look_at_epoch();
    double now = monotonic_seconds();
    look_for_breaks(now);
    reserved_.clear();
    expects_nothing_ = requests_.expects_nothing();
    return now;
}

char *Remote::reserve(NodeId to, uint64_t bytes) {
    transport_->reach(to);
    reserved_.push_back({to, transport_->message(bytes)});
    return reserved_.back().message.data();
}

void Remote::send_reserved() {
    // Only one message: the first of several may be answered before the next is sent.
    bool expects_nothing = expects_nothing_ && reserved_.size() == 1;
    for (Reserved &next : reserved_) transport_->send(next.to, std::move(next.message), expects_nothing);
    reserved_.clear();
}

void Remote::send(NodeId to, Bytes message) { transport_->send(to, std::move(message)); }

// In a new epoch no node answers questions of a former one.
void Remote::look_at_epoch() {
    uint32_t epoch = segment_.header().epoch.load(std::memory_order_acquire);
    if (requests_.is_in(epoch)) return;
    auto lost = NodeId(segment_.header().lost_last.load(std::memory_order_acquire));
    expects_nothing_ = false; // operations may be asked again
    requests_.begin_epoch(epoch, segment_.members(), lost);
}

void Remote::look_for_breaks(double now) {
    if (now < look_at_) return;
    look_at_ = now + look_again_after;
    for (NodeId node : transport_->broken()) requests_.note_break(node, now);
    NodeId silent = requests_.give_up(now);
    if (silent != no_node) fail_for(silent);
}

void Remote::receive() {
    look_at_epoch();
    for (Message frame; transport_->receive(&frame);) {
        try {
            requests_.receive(frame.data(), frame.size());
        } catch (const Malformed &error) {
            count_refusal(segment_.header(), error.what());
        }
    }
    show_pending();
}

void Remote::ended(Operation operation, double began) {
    if (is_about_rows(operation)) return; // the statistics are of what moves values
    WorkerSlot &slot = segment_.slot(slot_);
    double seconds = monotonic_seconds() - began;
    auto ns = int64_t(seconds * 1e9);
    add_to(slot.counters.remote_operations, 1);
    add_to(slot.counters.remote_wait_ns, ns);
    raise_to(slot.longest.remote_ns, ns);
    segment_.header().latencies[int(operation)][1].add(seconds);
}

void Remote::show_pending() {
    segment_.slot(slot_).pending.store(uint32_t(requests_.in_flight().count()), std::memory_order_relaxed);
}

} // namespace ps
