// The parts of tables: which are missing, and how this node makes its own ones and ends them.
#include <algorithm>

#include "errors.h"
#include "membership/notes.h"
#include "segment/process.h"
#include "tables/tables.h"

namespace ps {

namespace {

constexpr size_t most_of_a_reason = 160; // bytes

// What stands on the board has printed characters only.
std::string printed(const char *text) {
    std::string found(text);
    found.resize(std::min(found.size(), most_of_a_reason));
    std::replace_if(found.begin(), found.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return found;
}

std::string place(uint64_t table, NodeId node) { return std::to_string(table) + "/" + std::to_string(node); }

} // namespace

bool Tables::joins(const Table &table) const { return !has(table.declared.first, self_); }

const Notice *Tables::part(const Table &table, NodeId node) const { return board_.find(place(table.number, node)); }

// A node that joins asks those that have their parts, when all of the first ones that are there have.
std::optional<NodeId> Tables::missing(const Table &table) const {
    for (NodeId node : table.declared.first)
        if (!part(table, node) && (!joins(table) || has(board_.members(), node))) return node;
    return std::nullopt;
}

std::optional<NodeId> Tables::left(const Table &table) const {
    for (NodeId node : table.declared.first)
        if (!joins(table) && !part(table, node) && !has(board_.members(), node)) return node;
    return std::nullopt;
}

// What the first node has said that could not make its part, or that another one is not there any more; empty if
// nothing is wrong.
std::string Tables::failure_of(const Table &table) const {
    for (NodeId node : table.declared.first) {
        const Notice *said = part(table, node);
        if (said && said->text[0] == '!') return "on node " + std::to_string(node) + ", " + said->text.substr(1);
    }
    if (const std::optional<NodeId> node = left(table))
        return "node " + std::to_string(*node) + " was lost or has left";
    if (!joins(table) || missing(table)) return "";
    for (NodeId node : board_.members())
        if (part(table, node)) return "";
    return "all nodes that had it were lost or have left";
}

// Of the parts that this node is to connect to: those of all that make the table together, or those that it joins.
std::vector<std::string> Tables::endpoints(const Table &table) const {
    std::vector<std::string> endpoints(cluster_.places);
    for (NodeId node : joins(table) ? board_.members() : table.declared.first)
        if (const Notice *said = part(table, node)) endpoints[node] = said->text;
    endpoints[self_] = table.endpoint;
    return endpoints;
}

// The thread.

void Tables::start() {
    SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
}

void Tables::run() {
    begin_thread("ps tables");
    Lock lock(mutex_);
    while (!stopped_)
        if (!step(lock)) changed_.wait(lock);
}

// Does what is to be done now; false if there is nothing.
bool Tables::step(Lock &lock) {
    std::vector<std::shared_ptr<Table>> all(ended_.begin(), ended_.end()); // the lists change below
    for (const auto &[name, table] : tables_) all.push_back(table);
    bool was_busy = false;
    for (const std::shared_ptr<Table> &table : all) {
        const std::optional<Act> act = find(table->name) == table ? act_on(*table) : act_on_ended(*table);
        if (!act || stopped_) continue;
        was_busy = true;
        (this->**act)(lock, table);
    }
    return was_busy;
}

std::optional<Tables::Act> Tables::act_on(const Table &table) const {
    if (table.state == State::declared) return &Tables::bind;
    const bool is_due = !missing(table) || !failure_of(table).empty();
    return table.state == State::bound && is_due ? std::optional<Act>(&Tables::connect) : std::nullopt;
}

std::optional<Tables::Act> Tables::act_on_ended(const Table &table) const {
    if (table.is_shut_down) return std::nullopt;
    if (!table.has_ended) return may_end(table) ? std::optional<Act>(&Tables::end) : std::nullopt;
    return is_used(table) ? std::nullopt : std::optional<Act>(&Tables::shut_down);
}

void Tables::bind(Lock &lock, const std::shared_ptr<Table> &table) {
    table->state = State::bound;
    lock.unlock();
    std::shared_ptr<TableNode> node;
    std::string said;
    try {
        node = make_(table->declared, table->number);
        said = node->bind();
    } catch (const std::exception &error) {
        said = "!" + printed(error.what());
    }
    lock.lock();
    table->node = node;
    table->endpoint = said;
    if (joins(*table)) return;
    table->has_bound = true;
    begin({0, place(table->number, self_), said});
}

// The others have said where their parts are, or why there are none.
void Tables::connect(Lock &lock, const std::shared_ptr<Table> &table) {
    std::string failure = failure_of(*table);
    if (failure.empty() && table->endpoint[0] == '!') failure = table->endpoint.substr(1);
    if (failure.empty()) {
        const std::vector<std::string> endpoints = this->endpoints(*table);
        bool is_connected = false;
        lock.unlock();
        try {
            is_connected = table->node->connect(endpoints);
        } catch (const std::exception &error) {
            failure = error.what();
        }
        lock.lock();
        if (!is_connected && failure.empty()) return;
    }
    if (table->state == State::bound) table->state = failure.empty() ? State::works : State::failed;
    table->has_worked = table->state == State::works;
    if (joins(*table) && table->has_worked) {
        table->has_bound = true;
        begin({0, place(table->number, self_), table->endpoint});
    }
    if (table->state == State::failed) {
        if (table->failure.empty()) table->failure = failure, table->was_left = left(*table).has_value();
        if (!joins(*table)) begin({table->number, table->name, ""}, table);
    }
    changed_.notify_all();
}

// Its part goes off the board, and so do those of nodes that cannot do it themselves any more.
void Tables::end(Lock &, const std::shared_ptr<Table> &table) {
    table->has_ended = true;
    for (NodeId node = 0; node < cluster_.places; node++) {
        const Notice *said = part(*table, node);
        if (said && (node == self_ || !has(board_.members(), node)))
            begin({said->number, place(table->number, node), ""});
    }
}

// Whether its part stands on the board, if it was proposed.
bool Tables::may_end(const Table &table) const { return !table.has_bound || lost_ || part(table, self_); }

// Whether workers of some node may still use a dropped table.
bool Tables::is_used(const Table &table) const {
    if (!table.has_worked || lost_) return false;
    const std::vector<NodeId> &members = board_.members();
    return std::any_of(members.begin(), members.end(), [&](NodeId node) { return part(table, node) != nullptr; });
}

void Tables::shut_down(Lock &lock, const std::shared_ptr<Table> &table) {
    ended_.erase(std::find(ended_.begin(), ended_.end(), table));
    const std::shared_ptr<TableNode> node = table->node;
    lock.unlock();
    if (node) node->shut_down(true);
    lock.lock();
    table->is_shut_down = true;
    changed_.notify_all();
}

} // namespace ps
