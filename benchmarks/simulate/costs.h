// What a simulated cluster is like: its hosts, its links, and what each step costs. All numbers come by name from
// settings.py, which says what they mean and how they were measured.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>

#include "wire/frame.h"

namespace ps::simulate {

class Settings {
public:
    explicit Settings(std::istream &lines) { // "name value" in each
        for (std::string name, value; lines >> name && std::getline(lines >> std::ws, value);) values_[name] = value;
    }

    const std::string &text(const std::string &name) const {
        auto found = values_.find(name);
        if (found == values_.end()) throw std::runtime_error("the setting " + name + " is missing");
        return found->second;
    }
    double number(const std::string &name) const { return std::stod(text(name)); }
    int64_t integer(const std::string &name) const { return int64_t(number(name)); }

private:
    std::map<std::string, std::string> values_;
};

// Seconds of a processor.
struct Cost {
    double once = 0, key = 0, byte = 0;

    double of(uint64_t keys, uint64_t bytes) const { return once + key * double(keys) + byte * double(bytes); }
};

struct Costs {
    Cost send, receive, io; // of a message: by the thread that sends or receives it, and by a node's own for sockets
    Cost taken[int(last_kind) + 1]; // what a server does with a message of each kind
    Cost turn; // of a server, with the keys and bytes that it sends meanwhile
    Cost local, asked; // of a worker: keys that are here, and keys that it asks others for
    double system, call, tell; // system: of sending or receiving a batch; tell: for each key
    double sleep, wake; // of a thread that sleeps and is woken: what it computes for that, and until it goes on
    double slowness; // how many times as long all takes that is computed
};

struct Hosts {
    double delay, per_byte, shared_per_byte; // of links: seconds; shared: of what all links have in common
    double shared_once; // seconds that it takes for a batch of messages, and as many for what confirms it
    uint64_t packet, packet_overhead; // bytes
    int64_t nodes, workers, processors; // the last two of each node
    double quota, period; // seconds that a node may compute in each period; 0: any number
    int64_t machine; // processors that all nodes share; 0: each has its own
};

inline Cost cost_of(const Settings &settings, const std::string &name) {
    return {settings.number(name + ".once"), settings.number(name + ".key"), settings.number(name + ".byte")};
}

inline Costs costs_of(const Settings &settings) {
    Costs costs{
        cost_of(settings, "send"),  cost_of(settings, "receive"), cost_of(settings, "io"),    {},
        cost_of(settings, "turn"),  cost_of(settings, "local"),   cost_of(settings, "asked"), settings.number("system"),
        settings.number("call"),    settings.number("tell"),      settings.number("sleep"),   settings.number("wake"),
        settings.number("slowness")};
    for (Cost &cost : costs.taken) cost = cost_of(settings, "taken");
    const std::pair<const char *, Kind> own[] = {
        {"request", Kind::request},   {"answer", Kind::answer},     {"localize", Kind::localize},
        {"relocate", Kind::relocate}, {"transfer", Kind::transfer}, {"moves", Kind::moves},
        {"want", Kind::want},         {"delta", Kind::delta},       {"refresh", Kind::refresh},
        {"ended", Kind::ended},       {"intent", Kind::intent},     {"settle", Kind::settle},
        {"round", Kind::round},       {"taken", Kind::taken}};
    for (auto &[name, kind] : own) costs.taken[int(kind)] = cost_of(settings, std::string("taken.") + name);
    return costs;
}

inline Hosts hosts_of(const Settings &settings) {
    return {settings.number("delay"),
            8 / settings.number("rate"),
            8 / settings.number("shared_rate"),
            settings.number("shared_once"),
            uint64_t(settings.integer("packet")),
            uint64_t(settings.integer("packet_overhead")),
            settings.integer("nodes"),
            settings.integer("workers"),
            settings.integer("processors"),
            settings.number("quota"),
            settings.number("period"),
            settings.integer("machine")};
}

} // namespace ps::simulate
