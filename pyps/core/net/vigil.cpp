#include "net/vigil.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "errors.h"
#include "net/refusals.h"
#include "segment/process.h"
#include "wire/notes.h"
#include "worker/loss.h"

namespace ps {

namespace {

constexpr double look_at_probes_every = 0.02; // seconds

// A node that falls silent is lost after lost_after: up to one heartbeat passes before the next sign of life is due,
// then the transport waits for it, then the broken link has one more heartbeat to come back.
Heartbeats heartbeats(const Header &header) { return {header.heartbeat, header.lost_after - 2 * header.heartbeat}; }

} // namespace

Vigil::Vigil(Segment &segment, NodeTransport &transport, const std::vector<std::string> &endpoints)
    : segment_(segment), shape_(segment),
      membership_(NodeId(segment.header().node), NodeId(segment.header().places), segment.members(),
                  segment.header().heartbeat,
                  segment.header().on_loss == PS_ON_LOSS_CONTINUE ? OnLoss::go_on : OnLoss::fail, *this),
      links_(transport.links(name_of_vigil(NodeId(segment.header().node), segment.header().cluster),
                             heartbeats(segment.header()))) {
    for (NodeId node = 0; node < endpoints.size(); node++)
        if (node != segment.header().node && !endpoints[node].empty()) links_->connect(node, endpoints[node]);
    thread_ = std::thread([this] { run(); });
}

Vigil::~Vigil() {
    stop_ = true;
    wake_.ring();
    thread_.join();
}

void Vigil::deliver(Note note) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        notes_.push_back(std::move(note));
    }
    wake_.ring();
}

void Vigil::left(NodeId node) {
    segment_.member(node).state.store(Member::left, std::memory_order_release);
    if (segment_.header().on_loss == PS_ON_LOSS_FAIL)
        segment_.header().parted.store(uint32_t(node) + 1, std::memory_order_release);
    deliver({node, 0, Left{}});
}

void Vigil::run() noexcept {
    begin_thread("ps vigil");
    try {
        work();
    } catch (const std::exception &error) {
        end_node(segment_, State::failed, segment_.header().node, error.what());
    }
}

double Vigil::patience(double now) const {
    bool probing = false;
    for (NodeId node = 0; node < shape_.places() && !probing; node++) probing = links_->is_probing(node);
    double most = probing ? look_at_probes_every : segment_.header().heartbeat;
    return std::max(0.0, std::min(most, membership_.due() - now));
}

// It wakes at least once in every heartbeat, so that it notices when the whole process was stopped for a while.
void Vigil::work() {
    double last = monotonic_seconds();
    while (!stop_.load(std::memory_order_relaxed)) {
        double now = monotonic_seconds();
        links_->wait(wake_.fd(), patience(now));
        wake_.answer();
        now = monotonic_seconds();
        if (now - last > segment_.header().lost_after / 2) membership_.ask();
        last = now;
        look_at_links(now);
        membership_.tick(now);
    }
}

// A node that shuts down first tells so, then closes its connections. So breaks are taken first and handled last: by
// then the note that explains a break has come and is handled.
void Vigil::look_at_links(double now) {
    std::vector<ConnectionEvent> of_links = links_->link_events(), of_messages = links_->message_events();
    std::deque<Note> notes;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        notes.swap(notes_);
    }
    for (const Note &note : notes) take(note, now);
    for (const ConnectionEvent &link : of_links)
        link.is_connected ? membership_.linked(link.node) : membership_.unlinked(link.node, now);
    for (const ConnectionEvent &connection : of_messages)
        if (connection.has_broken) membership_.broken(connection.node, now);
    for (Message message; links_->receive(&message);) receive(message);
    for (NodeId node = 0; node < shape_.places(); node++) {
        if (!links_->is_probing(node)) continue;
        Reach reach = links_->look(node, now);
        if (reach != Reach::unknown) membership_.probed(node, reach == Reach::refused, now);
    }
}

void Vigil::take(const Note &note, double now) {
    if (auto *alive = std::get_if<Alive>(&note.what)) membership_.receive(note.from, note.epoch, *alive, now);
    if (auto *lost = std::get_if<Lost>(&note.what)) membership_.receive(note.from, note.epoch, *lost);
    if (auto *vote = std::get_if<Vote>(&note.what)) membership_.receive(note.from, *vote, now);
    if (auto *join = std::get_if<Join>(&note.what)) membership_.receive(note.from, *join, now);
    if (auto *introduction = std::get_if<Introduction>(&note.what)) membership_.receive(note.epoch, *introduction);
    if (auto *meet = std::get_if<Meet>(&note.what)) links_->connect(note.from, meet->endpoint);
    if (std::holds_alternative<Left>(note.what)) membership_.left(note.from, now);
    if (std::holds_alternative<GiveUp>(note.what)) membership_.give_up();
}

// An answer of another node's server over a link.
void Vigil::receive(const Message &message) {
    try {
        FrameReader reader(message.data(), message.size());
        FrameHeader header = decode_header(reader, segment_.header().cluster, shape_);
        if (header.kind != Kind::lost) throw Malformed("it is not for a vigil");
        membership_.receive(header.from, header.epoch, decode_lost(header, reader, shape_));
    } catch (const Malformed &error) {
        count_refusal(segment_.header(), error.what());
    }
}

void Vigil::probe(NodeId node) { links_->probe(node, monotonic_seconds(), segment_.header().heartbeat); }

void Vigil::tell(NodeId node, const Alive &message) { links_->send(node, encode(message, header_from(segment_))); }

void Vigil::tell(NodeId node, const Lost &message) { links_->send(node, encode(message, header_from(segment_))); }

void Vigil::tell(NodeId node, const Vote &message) { links_->send(node, encode(message, header_from(segment_))); }

void Vigil::tell(NodeId node, const Join &message) {
    links_->send(node, encode(JoinMessage{message, segment_.endpoint(segment_.header().node)}, header_from(segment_)));
}

void Vigil::tell(NodeId node, const Introduction &message) {
    IntroductionMessage whole{message, {}};
    for (NodeId member : message.members) whole.endpoints.emplace_back(segment_.endpoint(member));
    links_->send(node, encode(whole, header_from(segment_)));
}

bool Vigil::may_join() const {
    const Header &header = segment_.header();
    return header.channels_secure.load(std::memory_order_acquire) == header.num_channels;
}

void Vigil::mark_lost(NodeId node, Evidence evidence, NodeId by) {
    MemberSlot &slot = segment_.member(node);
    slot.evidence.store(uint16_t(evidence), std::memory_order_relaxed);
    slot.by.store(by, std::memory_order_relaxed);
    slot.state.store(Member::lost, std::memory_order_release);
}

void Vigil::end(NodeId node, Evidence evidence, NodeId by) {
    mark_lost(node, evidence, by);
    end_node(segment_, evidence == Evidence::failed && node == segment_.header().node ? State::failed : State::lost,
             node, describe_loss(segment_, node));
}

void Vigil::begin(uint32_t epoch, const std::vector<NodeId> &members) {
    Header &header = segment_.header();
    for (NodeId node = NodeId(header.places); node-- > 0;) {
        if (std::count(members.begin(), members.end(), node) || !is_member(segment_, node)) continue;
        mark_lost(node, membership_.evidence(node), members[0]);
        header.lost_last.store(node, std::memory_order_release);
    }
    for (NodeId node : members)
        if (!is_member(segment_, node)) segment_.member(node).state.store(Member::here, std::memory_order_release);
    {
        std::lock_guard<std::mutex> lock(mutex_);
        news_ = Epoch{epoch, members};
    }
    header.epoch.store(epoch, std::memory_order_release);
    segment_.doorbell().ring();
}

std::optional<Vigil::Epoch> Vigil::new_epoch() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(news_, std::nullopt);
}

} // namespace ps
