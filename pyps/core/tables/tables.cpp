#include "tables/tables.h"

#include <algorithm>
#include <chrono>

#include "errors.h"
#include "segment/process.h"
#include "tables/options.h"

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
bool is_name(const std::string &name) { return name.find('/') == std::string::npos; }

} // namespace

Tables::Tables(const FrameHeader &header, NodeId nodes, MakeTableNode make, std::function<void()> wake)
    : header_(header), self_(header.from), nodes_(nodes), make_(std::move(make)), wake_(std::move(wake)),
      board_(self_, nodes, *this) {}

void Tables::stop() {
    Lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    std::thread thread = std::move(thread_);
    lock.unlock();
    if (thread.joinable()) thread.join();
    lock.lock();
    for (auto &[name, table] : std::exchange(tables_, {})) ended_.push_back(table);
    for (; !ended_.empty(); ended_.pop_front()) {
        ended_.front()->is_shut_down = true;
        if (ended_.front()->node) ended_.front()->node->shut_down(false);
    }
}

std::shared_ptr<Tables::Table> Tables::find(const std::string &name) const {
    auto found = tables_.find(name);
    return found == tables_.end() ? nullptr : found->second;
}

void Tables::require_all() {
    if (lost_)
        fail(PS_ELOST, Where{-1, *lost_, 0},
             "tables are made while all nodes are there, and node %u was lost or has left", *lost_);
}

// Returns false if the patience is over before; throws if the time is. Both functions are called under the lock.
bool Tables::wait(Lock &lock, double end, double patience, const std::function<bool()> &is_over,
                  const std::function<std::string()> &what_is_missing) {
    const double until = std::min(end, monotonic_seconds() + patience);
    for (;;) {
        if (stopped_) fail(PS_ECLOSED, Where{}, "the node was shut down");
        if (is_over()) return true;
        const double left = until - monotonic_seconds();
        if (left <= 0 && until < end) return false;
        if (left <= 0) fail(PS_ETIMEDOUT, Where{}, "%s in time", what_is_missing().c_str());
        changed_.wait_for(lock, std::chrono::duration<double>(std::min(left, 60.0)));
    }
}

std::shared_ptr<TableNode> Tables::open(const std::string &name, const std::string &options, double timeout,
                                        double patience) {
    require_table_name(name);
    const double end = monotonic_seconds() + timeout;
    Lock lock(mutex_);
    std::shared_ptr<Table> table;
    // One that could not be made is taken down soon, unless a node was lost.
    auto is_free = [&] {
        table = find(name);
        return !table || lost_ || (table->state != State::failed && failure_of(*table).empty());
    };
    if (!wait(lock, end, patience, is_free, [] { return "node 0 did not answer"; })) return nullptr;
    if (!table && options.empty()) {
        if (!wait(
                lock, end, patience, [&] { return (table = find(name)) != nullptr; },
                [&] { return "no node has declared table '" + name + "'"; }))
            return nullptr;
    } else if (!table) {
        require_all();
        const std::shared_ptr<Proposal> proposal = begin({0, name, options});
        if (!wait(lock, end, patience, [&] { return proposal->is_answered; }, [] { return "node 0 did not answer"; }))
            return nullptr; // another proposal of the same changes nothing
        table = proposal->table;
        if (!table) require_all();
        if (!table) fail(PS_ESTATE, Where{}, "table '%s' was dropped meanwhile", name.c_str());
    }
    if (!options.empty() && options != table->options)
        fail(PS_EINVAL, Where{}, "table '%s' is there with other options: %s", name.c_str(), table->options.c_str());
    if (!wait(
            lock, end, patience, [&] { return table->state >= State::works; },
            [&] {
                const std::optional<NodeId> node = missing(*table);
                return "node " + std::to_string(node.value_or(self_)) + " has not made its part of table '" + name +
                       "'";
            }))
        return nullptr;
    if (table->state == State::failed)
        fail(PS_ESTATE, Where{}, "table '%s' could not be made: %s", name.c_str(), table->failure.c_str());
    if (table->state == State::dropped) fail(PS_ECLOSED, Where{}, "table '%s' was dropped", name.c_str());
    return table->node;
}

bool Tables::drop(const std::string &name, double timeout, double patience) {
    require_table_name(name);
    const double end = monotonic_seconds() + timeout;
    Lock lock(mutex_);
    const std::shared_ptr<Table> table = find(name);
    auto begun = dropped_.find(name);
    if (begun == dropped_.end() || (table && table != begun->second->table)) {
        if (!table) fail(PS_ESTATE, Where{}, "there is no table '%s'", name.c_str());
        if (is_deciding_lost_)
            fail(PS_ELOST, Where{}, "tables are dropped by way of node 0, which was lost or has left");
        begun = dropped_.insert_or_assign(name, begin({table->number, name, ""}, table)).first;
    }
    const std::shared_ptr<Proposal> proposal = begun->second;
    if (!wait(
            lock, end, patience, [&] { return proposal->is_answered && proposal->table->is_shut_down; },
            [] { return "node 0 did not answer"; }))
        return false;
    dropped_.erase(name);
    return true;
}

std::vector<std::string> Tables::names() {
    Lock lock(mutex_);
    std::vector<std::string> found;
    for (const auto &[name, table] : tables_)
        if (table->state == State::works) found.push_back(name);
    return found;
}

std::string Tables::options(const std::string &name) {
    Lock lock(mutex_);
    const std::shared_ptr<Table> table = find(name);
    if (!table) fail(PS_ESTATE, Where{}, "there is no table '%.80s'", name.c_str());
    return table->options;
}

void Tables::end_workers() {
    Lock lock(mutex_);
    for (const auto &[name, table] : tables_)
        if (table->node) table->node->end_workers("");
}

std::vector<std::shared_ptr<TableNode>> Tables::nodes() {
    Lock lock(mutex_);
    std::vector<std::shared_ptr<TableNode>> nodes;
    for (const auto &[name, table] : tables_)
        if (table->state == State::works) nodes.push_back(table->node);
    return nodes;
}

void Tables::receive(NodeId from, const BoardMessage &message) {
    Lock lock(mutex_);
    if (message.what == BoardMessage::What::proposal) {
        if (self_ != 0) throw Malformed("a proposal is for node 0");
        board_.receive_proposal(from, message.id, message.notice);
        return;
    }
    if (from != 0) throw Malformed("only node 0 decides about tables");
    if (message.what == BoardMessage::What::notice)
        board_.receive(message.notice);
    else
        board_.receive_answer(message.id);
}

void Tables::lose(NodeId node) {
    Lock lock(mutex_);
    if (!lost_) lost_ = node;
    is_deciding_lost_ |= node == 0;
    for (const auto &[name, table] : tables_)
        if (table->state < State::works) {
            table->state = State::failed;
            table->failure = "node " + std::to_string(node) + " was lost or has left";
        }
    while (node == 0 && !proposals_.empty()) answered(proposals_.begin()->first);
    changed_.notify_all();
}

void Tables::flush(const Send &send) {
    std::vector<std::pair<NodeId, Bytes>> outgoing;
    {
        Lock lock(mutex_);
        outgoing.swap(outgoing_);
    }
    for (auto &[to, message] : outgoing) send(to, std::move(message));
}

// The parts of the board; the lock is held.

void Tables::post(NodeId to, const BoardMessage &message) {
    outgoing_.emplace_back(to, message.encode(header_));
    wake_();
}

void Tables::propose(uint64_t id, const Notice &notice) { post(0, {BoardMessage::What::proposal, id, notice}); }

void Tables::tell(NodeId to, const Notice &notice) { post(to, {BoardMessage::What::notice, 0, notice}); }

void Tables::answer(NodeId to, uint64_t id) { post(to, {BoardMessage::What::answer, id, {}}); }

std::shared_ptr<Tables::Proposal> Tables::begin(const Notice &notice, std::shared_ptr<Table> to_drop) {
    auto proposal = std::make_shared<Proposal>();
    proposal->name = notice.name;
    proposal->table = std::move(to_drop);
    proposals_[++last_id_] = proposal;
    board_.propose(last_id_, notice);
    return proposal;
}

void Tables::answered(uint64_t id) {
    auto found = proposals_.find(id);
    if (found == proposals_.end()) return;
    Proposal &proposal = *found->second;
    proposal.is_answered = true;
    if (!proposal.table) proposal.table = find(proposal.name);
    proposals_.erase(found);
    changed_.notify_all();
}

void Tables::adopted(const Notice &notice) {
    changed_.notify_all();
    if (!is_name(notice.name)) return; // of a part, which the thread looks for
    if (!notice.text.empty()) {
        tables_[notice.name] = std::make_shared<Table>(notice);
        if (!thread_.joinable() && !stopped_) start();
        return;
    }
    const std::shared_ptr<Table> table = find(notice.name);
    if (!table || table->number != notice.number) return;
    // A node that could not make its part has said so before it, or another node, took the table down.
    if (table->state < State::works) table->failure = failure_of(*table);
    table->state = table->failure.empty() ? State::dropped : State::failed;
    tables_.erase(notice.name);
    if (table->node) table->node->end_workers("table '" + table->name + "' was dropped");
    ended_.push_back(table);
}

std::optional<NodeId> Tables::missing(const Table &table) const {
    for (NodeId node = 0; node < nodes_; node++)
        if (!board_.find(place(table.number, node))) return node;
    return std::nullopt;
}

// What the first node has said that could not make its part; empty if there is none.
std::string Tables::failure_of(const Table &table) const {
    for (NodeId node = 0; node < nodes_; node++) {
        const Notice *part = board_.find(place(table.number, node));
        if (part && part->text[0] == '!') return "on node " + std::to_string(node) + ", " + part->text.substr(1);
    }
    return "";
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

// Does one of the things that are to be done; false if there is none.
bool Tables::step(Lock &lock) {
    for (const std::shared_ptr<Table> &found : ended_) {
        const std::shared_ptr<Table> table = found; // the list changes below
        if (!table->has_ended && may_end(*table)) return end(table), true;
        if (table->has_ended && !is_used(*table)) return shut_down(lock, table), true;
    }
    for (const auto &[name, found] : tables_) {
        const std::shared_ptr<Table> table = found;
        if (table->state == State::declared) return bind(lock, table), true;
        if (table->state == State::bound && !missing(*table)) return connect(lock, table), true;
    }
    return false;
}

void Tables::bind(Lock &lock, const std::shared_ptr<Table> &table) {
    table->state = State::bound;
    lock.unlock();
    std::shared_ptr<TableNode> node;
    std::string said;
    try {
        node = make_(table->options, table->number);
        said = node->bind();
    } catch (const std::exception &error) {
        said = "!" + printed(error.what());
    }
    lock.lock();
    table->node = node;
    table->has_bound = true;
    begin({0, place(table->number, self_), said});
}

// All nodes have said where their parts are, or why they have none.
void Tables::connect(Lock &lock, const std::shared_ptr<Table> &table) {
    std::string failure = failure_of(*table);
    if (failure.empty()) {
        std::vector<std::string> endpoints;
        for (NodeId node = 0; node < nodes_; node++) endpoints.push_back(board_.find(place(table->number, node))->text);
        lock.unlock();
        try {
            table->node->connect(endpoints);
        } catch (const std::exception &error) {
            failure = error.what();
        }
        lock.lock();
    }
    if (table->state == State::bound) table->state = failure.empty() ? State::works : State::failed;
    table->has_worked = table->state == State::works;
    if (table->state == State::failed) {
        if (table->failure.empty()) table->failure = failure;
        begin({table->number, table->name, ""}, table);
    }
    changed_.notify_all();
}

void Tables::end(const std::shared_ptr<Table> &table) {
    table->has_ended = true;
    const std::string name = place(table->number, self_);
    if (const Notice *part = board_.find(name)) begin({part->number, name, ""});
}

// Whether its part stands on the board, if it was proposed.
bool Tables::may_end(const Table &table) const {
    return !table.has_bound || lost_ || board_.find(place(table.number, self_));
}

// Whether workers of some node may still use a dropped table.
bool Tables::is_used(const Table &table) const {
    if (!table.has_worked || lost_) return false;
    for (NodeId node = 0; node < nodes_; node++)
        if (board_.find(place(table.number, node))) return true;
    return false;
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
