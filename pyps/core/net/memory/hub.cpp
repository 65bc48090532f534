#include "net/memory/hub.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "errors.h"
#include "segment/process.h"

namespace ps {

namespace {
constexpr double forever = std::numeric_limits<double>::infinity();
}

// A forked child does not use its parent's hub, whose mutex may have been held during the fork.
Hub &Hub::here() {
    static std::atomic<Hub *> instance{nullptr};
    static std::atomic<uint32_t> generation{0};
    static std::mutex making;
    if (Hub *hub = instance.load(std::memory_order_acquire); hub && generation == fork_generation()) return *hub;
    std::lock_guard<std::mutex> lock(making);
    if (!instance || generation != fork_generation()) {
        generation = fork_generation();
        instance.store(new Hub, std::memory_order_release); // kept as long as the process
    }
    return *instance;
}

void Hub::bind(const std::shared_ptr<Host> &host) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (host->options.name == "*") {
        do host->options.name = std::to_string(++names_);
        while (hosts_.count(host->options.endpoint()));
    }
    MemoryOptions &options = host->options;
    if (const auto other = hosts_.find("memory://" + options.beside); other != hosts_.end()) {
        options.delay = other->second->options.delay;
        options.jitter = other->second->options.jitter;
    }
    std::string endpoint = options.endpoint();
    if (!hosts_.emplace(endpoint, host).second)
        fail(PS_ESYSTEM, Where{-1, EADDRINUSE, 0},
             "%s is taken by another node of this process: choose another name, or memory://*", endpoint.c_str());
    double now = host->bound_at = monotonic_seconds();
    pass_time(*host, now);
    for (const auto &wire : wires_)
        if (wire->endpoint == endpoint) connect(wire, now);
}

void Hub::unbind(const std::shared_ptr<Host> &host) {
    std::lock_guard<std::mutex> lock(mutex_);
    hosts_.erase(host->options.endpoint());
    for (const auto &wire : wires_)
        if (wire->there == host) disconnect(*wire, false);
    host->server.parcels.clear();
}

void Hub::add(const std::shared_ptr<Wire> &wire) {
    std::lock_guard<std::mutex> lock(mutex_);
    wires_.push_back(wire);
    connect(wire, monotonic_seconds());
}

void Hub::remove(const std::vector<std::shared_ptr<Wire>> &wires) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto &wire : wires) {
        wires_.erase(std::find(wires_.begin(), wires_.end(), wire));
        if (wire->there) forget_name(*wire);
        wire->maker = nullptr;
        wire->there = nullptr;
    }
}

void Hub::set_links(Host &host, Party *links) {
    std::lock_guard<std::mutex> lock(mutex_);
    host.links = links;
    if (links) links->message_events.swap(host.server.message_events);
}

std::shared_ptr<Host> Hub::host_at(const std::string &endpoint) {
    auto found = hosts_.find(endpoint);
    return found == hosts_.end() ? nullptr : found->second;
}

void Hub::send(const std::shared_ptr<Wire> &wire, Message &&message) {
    std::lock_guard<std::mutex> lock(mutex_);
    double now = monotonic_seconds();
    pass_time(now);
    if (wire->there)
        carry(wire, true, std::move(message), now);
    else
        wire->waiting.push_back(std::move(message));
}

bool Hub::reply(Host &host, const std::string &name, Message &&message) {
    std::lock_guard<std::mutex> lock(mutex_);
    double now = monotonic_seconds();
    pass_time(now);
    auto found = host.names.find(name);
    if (found == host.names.end()) return false;
    std::shared_ptr<Wire> wire = found->second; // held here, as it may lose its name meanwhile
    // A server receives nothing over connections that it made.
    if (!wire->is_for_messages) carry(wire, false, std::move(message), now);
    return true;
}

void Hub::carry(const std::shared_ptr<Wire> &wire, bool to_host, Message &&message, double now) {
    if (wire->is_silent) return;
    Host &receiver = to_host ? *wire->there : *wire->home;
    Wire::Way &way = to_host ? wire->to_host : wire->to_maker;
    int64_t longest = to_host ? receiver.end.longest : wire->longest;
    if (int64_t(message.size()) > longest || (!wire->is_inside() && way.parcels >= receiver.options.backlog)) {
        disconnect(*wire, true);
        connect(wire, now);
        return;
    }
    double due = 0;
    const MemoryOptions &options = receiver.options;
    if (!wire->is_inside() && options.delay + options.jitter > 0) {
        std::uniform_real_distribution<double> extra(0, options.jitter);
        due = way.last = std::max(way.last, now + options.delay + extra(receiver.random));
    }
    Party &party = to_host ? receiver.server : *wire->maker;
    way.parcels++;
    party.parcels.emplace(due, Party::Parcel{wire, std::move(message)});
    party.wake();
}

// If another wire had the name, that one falls silent, and breaks after its heartbeats' timeout.
void Hub::connect(const std::shared_ptr<Wire> &wire, double now) {
    std::shared_ptr<Host> host = host_at(wire->endpoint);
    if (wire->there || !host || (host != wire->home && (host->is_cut || wire->home->is_cut))) return;
    if (host->end.keys.public_key != wire->home->end.keys.public_key) {
        if (!std::exchange(wire->was_refused, true)) host->refused->fetch_add(1, std::memory_order_relaxed);
        return;
    }
    std::shared_ptr<Wire> &named = host->names[wire->name];
    if (named) fall_silent(*named, now);
    named = wire;
    wire->there = host;
    tell(*wire, true);
    for (Message &message : std::exchange(wire->waiting, {}))
        // A message that was too long may have broken it again.
        if (wire->there) carry(wire, true, std::move(message), now);
}

void Hub::forget_name(Wire &wire) {
    auto named = wire.there->names.find(wire.name);
    if (named != wire.there->names.end() && named->second.get() == &wire) wire.there->names.erase(named);
}

// `loses`: messages on it that were not received are lost.
void Hub::disconnect(Wire &wire, bool loses) {
    auto drop = [&](Party &party) {
        for (auto at = party.parcels.begin(); at != party.parcels.end();)
            at = at->second.wire.get() == &wire ? party.parcels.erase(at) : std::next(at);
    };
    if (loses) {
        drop(wire.there->server);
        drop(*wire.maker);
        wire.to_host = wire.to_maker = {};
    }
    forget_name(wire);
    wire.there = nullptr;
    wire.is_silent = false;
    wire.breaks_at = forever;
    tell(wire, false);
}

void Hub::fall_silent(Wire &wire, double now) {
    if (std::exchange(wire.is_silent, true)) return;
    wire.breaks_at = now + wire.heartbeats.interval + wire.heartbeats.timeout;
    next_ = std::min(next_, wire.breaks_at);
    if (wire.is_for_messages && wire.home->links)
        wire.home->links->wake(); // so that it does not sleep beyond breaks_at
    else
        wire.maker->wake();
}

void Hub::tell(Wire &wire, bool is_connected) {
    Party *links = wire.home->links;
    Party &party = wire.is_for_messages && links ? *links : *wire.maker;
    auto &events = wire.is_for_messages ? party.message_events : party.events;
    events.push_back({wire.node, is_connected, !is_connected});
    party.wake();
}

void Hub::pass_time(double now) {
    if (now < next_) return;
    next_ = forever;
    for (const auto &[endpoint, host] : hosts_) pass_time(*host, now);
    for (size_t i = 0; i < wires_.size(); i++) {
        std::shared_ptr<Wire> wire = wires_[i];
        if (now >= wire->breaks_at) {
            disconnect(*wire, true);
            connect(wire, now);
        }
        next_ = std::min(next_, wire->breaks_at);
    }
}

void Hub::pass_time(Host &host, double now) {
    auto each = [&](auto &&happens) {
        for (size_t i = 0; i < wires_.size(); i++)
            if (std::shared_ptr<Wire> wire = wires_[i]; wire->leads_outside(host)) happens(wire);
    };
    const std::vector<double> &breaks = host.options.breaks;
    for (; host.breaks_done < breaks.size() && now >= host.bound_at + breaks[host.breaks_done]; host.breaks_done++)
        each([&](const auto &wire) {
            disconnect(*wire, true);
            connect(wire, now);
        });
    if (!host.is_cut && now >= host.bound_at + host.options.cut) {
        host.is_cut = true;
        each([&](const auto &wire) { fall_silent(*wire, now); });
    }
    if (host.breaks_done < breaks.size()) next_ = std::min(next_, host.bound_at + breaks[host.breaks_done]);
    if (!host.is_cut) next_ = std::min(next_, host.bound_at + host.options.cut);
}

bool Hub::receive(Party &party, Message *message, std::string *name) {
    std::lock_guard<std::mutex> lock(mutex_);
    double now = monotonic_seconds();
    pass_time(now);
    if (first_due(party) > now) return false;
    auto first = party.parcels.begin();
    Party::Parcel &parcel = first->second;
    bool to_host = parcel.wire->maker != &party;
    (to_host ? parcel.wire->to_host : parcel.wire->to_maker).parcels--;
    if (name) *name = parcel.wire->name;
    *message = std::move(parcel.message);
    party.parcels.erase(first);
    return true;
}

double Hub::first_due(const Party &party) const {
    return party.parcels.empty() ? forever : party.parcels.begin()->first;
}

bool Hub::has_news(const Party &party, double now) const {
    return first_due(party) <= now ||
           (party.wakes_for_events && (!party.events.empty() || !party.message_events.empty()));
}

NodeTransport::Woken Hub::wait(Party &party, int descriptor, double seconds) {
    double now = monotonic_seconds();
    const double end = now + seconds;
    NodeTransport::Woken woken{};
    for (;;) {
        double until;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            pass_time(now);
            woken.news |= has_news(party, now);
            until = woken.news ? now : std::min({end, first_due(party), next_});
            party.sleeps = until > now;
        }
        if (woken.news && descriptor < 0) return woken;
        pollfd items[] = {{party.bell.fd(), POLLIN, 0}, {descriptor, POLLIN, 0}};
        double whole = std::floor(std::max(until - now, 0.0));
        timespec limit{time_t(whole), long((std::max(until - now, 0.0) - whole) * 1e9)};
        int ready = ::ppoll(items, descriptor < 0 ? 1 : 2, &limit, nullptr);
        if (ready < 0 && errno != EINTR) fail_with_errno("ppoll");
        if (ready > 0 && items[0].revents) party.bell.answer();
        woken.rang = ready > 0 && descriptor >= 0 && items[1].revents;
        woken.news |= woken.rang;
        now = monotonic_seconds();
        std::lock_guard<std::mutex> lock(mutex_);
        party.sleeps = false;
        pass_time(now);
        woken.news |= has_news(party, now);
        if (woken.news || now >= end) return woken;
    }
}

std::vector<ConnectionEvent> Hub::take_events(std::vector<ConnectionEvent> &events) {
    std::lock_guard<std::mutex> lock(mutex_);
    pass_time(monotonic_seconds());
    return std::exchange(events, {});
}

Reach Hub::look(const Host &from, const std::string &endpoint) {
    std::lock_guard<std::mutex> lock(mutex_);
    pass_time(monotonic_seconds());
    std::shared_ptr<Host> host = host_at(endpoint);
    if (from.is_cut || (host && host->is_cut)) return Reach::unknown;
    return host ? Reach::open : Reach::refused;
}

} // namespace ps
