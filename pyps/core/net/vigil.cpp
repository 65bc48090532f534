#include "net/vigil.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "errors.h"
#include "loss.h"
#include "net/refusals.h"
#include "wire/notes.h"

namespace ps {

namespace {

constexpr double look_at_probes_every = 0.02; // seconds

// How lost_after is spent: at most one heartbeat until the next sign of life is due, then ZeroMQ waits, then a link
// that broke has one more heartbeat to come back.
int link_timeout(const Header &header) { return std::max(1, int((header.lost_after - 2 * header.heartbeat) * 1000)); }

std::string describe(NodeId node, Evidence evidence, NodeId by, const Header &header) {
    std::string name = "node " + std::to_string(node), other = "node " + std::to_string(by);
    std::string after = std::to_string(header.lost_after);
    after.erase(after.find_last_not_of('0') + 1);
    if (after.back() == '.') after.pop_back();
    if (node == header.node && evidence == Evidence::told)
        return "this node, " + std::to_string(node) + ", was declared lost by " + other +
               ": it had not been heard of for about " + after + " s (stopped? cut off?), and is no member any more";
    if (evidence == Evidence::refused) return name + " was lost: its process has ended";
    if (evidence == Evidence::silent)
        return name + " was lost: it has not been heard of for about " + after + " s (killed, stopped or cut off)";
    if (evidence == Evidence::failed) return name + " was lost: its server ended";
    return name + " was lost, says " + other;
}

} // namespace

Vigil::Vigil(Segment &segment, ZmqContext &context, const std::vector<std::string> &endpoints)
    : segment_(segment), shape_(segment),
      membership_(NodeId(segment.header().node), NodeId(segment.header().num_nodes), segment.header().heartbeat, *this),
      links_(endpoints.size()), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_ < 0) fail(PS_ESYSTEM, Where{-1, errno, 0}, "no eventfd: %s", std::strerror(errno));
    const Header &header = segment.header();
    for (NodeId node = 0; node < endpoints.size(); node++) {
        if (node == header.node) continue;
        ZmqSocket socket(context, ZmqSocket::dealer);
        socket.set(ZmqOption::routing_id, name_of_vigil(NodeId(header.node), header.cluster));
        socket.set(ZmqOption::heartbeat_interval, std::max(1, int(header.heartbeat * 1000)));
        socket.set(ZmqOption::heartbeat_timeout, link_timeout(header));
        ZmqSocket monitor = socket.monitor(context);
        links_[node].reset(new Link{std::move(socket), std::move(monitor), {}});
        links_[node]->probe.aim(endpoints[node]);
        links_[node]->socket.connect(endpoints[node]);
        sockets_.push_back(&links_[node]->socket);
        sockets_.push_back(&links_[node]->monitor);
    }
    thread_ = std::thread([this] { run(); });
}

Vigil::~Vigil() {
    stop_ = true;
    uint64_t one = 1;
    if (write(wake_, &one, sizeof one) != sizeof one) std::terminate(); // an eventfd takes it
    thread_.join();
    close(wake_);
}

void Vigil::deliver(Note note) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        notes_.push_back(std::move(note));
    }
    uint64_t one = 1;
    if (write(wake_, &one, sizeof one) != sizeof one) std::terminate();
}

void Vigil::left(NodeId node) {
    segment_.member(node).store(Member::left, std::memory_order_release);
    segment_.header().parted.store(uint32_t(node) + 1, std::memory_order_release);
    deliver({node, Left{}});
}

void Vigil::run() noexcept {
    try {
        work();
    } catch (const std::exception &error) {
        end_node(segment_, State::failed, segment_.header().node, error.what());
    }
}

double Vigil::patience(double now) const {
    bool probing = std::any_of(links_.begin(), links_.end(), [](const std::unique_ptr<Link> &link) {
        return link && link->probe.is_pending();
    });
    double most = probing ? look_at_probes_every : segment_.header().heartbeat;
    return std::max(0.0, std::min(most, membership_.due() - now));
}

// It wakes with every heartbeat, to see whether the whole process was stopped meanwhile.
void Vigil::work() {
    double last = monotonic_seconds();
    while (!stop_.load(std::memory_order_relaxed)) {
        double now = monotonic_seconds();
        wait_for_any(sockets_, wake_, patience(now));
        uint64_t count;
        if (read(wake_, &count, sizeof count) < 0 && errno != EAGAIN) fail_with_errno("a node's vigil");
        now = monotonic_seconds();
        if (now - last > segment_.header().lost_after / 2) membership_.ask();
        last = now;
        look_at_links(now);
        membership_.tick(now);
    }
}

// What a link says about its end is read before the notes and taken after them: a node says that it leaves before its
// links end.
void Vigil::look_at_links(double now) {
    std::vector<std::pair<NodeId, ZmqEvent>> events;
    for (NodeId node = 0; node < links_.size(); node++) {
        if (!links_[node]) continue;
        for (ZmqEvent event; (event = links_[node]->monitor.next_event()) != ZmqEvent::none;)
            events.emplace_back(node, event);
    }
    std::deque<Note> notes;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        notes.swap(notes_);
    }
    for (const Note &note : notes) take(note);
    for (auto [node, event] : events)
        event == ZmqEvent::connected ? membership_.linked(node) : membership_.unlinked(node, now);
    for (NodeId node = 0; node < links_.size(); node++) {
        if (!links_[node]) continue;
        receive(links_[node]->socket);
        Probe &probe = links_[node]->probe;
        if (!probe.is_pending()) continue;
        Probe::Result result = probe.look(now);
        if (result != Probe::Result::pending) membership_.probed(node, result == Probe::Result::refused);
    }
}

void Vigil::take(const Note &note) {
    if (auto *alive = std::get_if<Alive>(&note.what)) membership_.receive(note.from, *alive);
    if (auto *lost = std::get_if<Lost>(&note.what)) membership_.receive(note.from, *lost);
    if (std::holds_alternative<Left>(note.what)) membership_.left(note.from);
    if (std::holds_alternative<GiveUp>(note.what)) membership_.give_up();
}

// What another node's router answers.
void Vigil::receive(ZmqSocket &link) {
    for (ZmqMessage frame; link.receive(&frame);) {
        try {
            FrameReader reader(frame.data(), frame.size());
            FrameHeader header = decode_header(reader, segment_.header().cluster, shape_);
            if (header.kind != Kind::lost) throw Malformed("it is not for a vigil");
            membership_.receive(header.from, decode_lost(header, reader, shape_));
        } catch (const Malformed &error) {
            count_refusal(segment_.header(), error.what());
        }
    }
}

void Vigil::probe(NodeId node) { links_[node]->probe.start(monotonic_seconds(), segment_.header().heartbeat); }

void Vigil::tell(NodeId node, const Alive &message) {
    links_[node]->socket.send(encode(message, header_from(segment_)));
}

void Vigil::tell(NodeId node, const Lost &message) {
    links_[node]->socket.send(encode(message, header_from(segment_)));
}

void Vigil::lost(NodeId node, Evidence evidence, NodeId by) {
    segment_.member(node).store(Member::lost, std::memory_order_release);
    end_node(segment_, State::lost, node, describe(node, evidence, by, segment_.header()));
}

} // namespace ps
