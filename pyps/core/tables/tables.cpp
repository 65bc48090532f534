#include "tables/tables.h"

#include <algorithm>
#include <chrono>

#include "errors.h"
#include "segment/process.h"
#include "tables/options.h"

namespace ps {

namespace {

const std::string of_metrics = "metrics/"; // and the number of a node

bool is_name(const std::string &name) { return name.find('/') == std::string::npos; }

} // namespace

Tables::Tables(const FrameHeader &header, const Cluster &cluster, MakeTableNode make, std::function<void()> wake)
    : header_(header), self_(header.from), cluster_(cluster), make_(std::move(make)), wake_(std::move(wake)),
      board_(self_, cluster.first, *this) {}

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

// One that could not be made is taken down soon, unless a node was lost that is needed for that.
bool Tables::is_free(const std::string &name, std::shared_ptr<Table> *table) const {
    *table = find(name);
    if (!*table || lost_ || joins(**table)) return true;
    return (*table)->state != State::failed && failure_of(**table).empty();
}

// Returns the table of the name, which is there or was declared now; null if the patience is over before.
std::shared_ptr<Tables::Table> Tables::declare(Lock &lock, const std::string &name, const std::string &options,
                                               double end, double patience) {
    std::shared_ptr<Table> table;
    auto no_answer = [] { return "no node answered"; };
    if (!wait(lock, end, patience, [&] { return is_free(name, &table); }, no_answer) || table) return table;
    if (options.empty()) {
        wait(
            lock, end, patience, [&] { return (table = find(name)) != nullptr; },
            [&] { return "no node has declared table '" + name + "'"; });
        return table;
    }
    require_all();
    const std::shared_ptr<Proposal> proposal = begin({0, name, options});
    if (!wait(lock, end, patience, [&] { return proposal->is_answered; }, no_answer))
        return nullptr; // another proposal of the same changes nothing
    if (!proposal->table) require_all();
    if (!proposal->table) fail(PS_ESTATE, Where{}, "table '%s' was dropped meanwhile", name.c_str());
    return proposal->table;
}

std::shared_ptr<TableNode> Tables::open(const std::string &name, const std::string &options, double timeout,
                                        double patience) {
    require_table_name(name);
    const double end = monotonic_seconds() + timeout;
    Lock lock(mutex_);
    std::shared_ptr<Table> table;
    do {
        table = declare(lock, name, options, end, patience);
        if (!table) return nullptr;
        if (!options.empty() && options != table->declared.options)
            fail(PS_EINVAL, Where{}, "table '%s' is there with other options: %s", name.c_str(),
                 table->declared.options.c_str());
        if (!wait(
                lock, end, patience, [&] { return table->state >= State::works; },
                [&] {
                    const std::optional<NodeId> node = missing(*table);
                    return "node " + std::to_string(node.value_or(self_)) + " has not made its part of table '" + name +
                           "'";
                }))
            return nullptr;
    } while (table->state == State::failed && table->was_left && cluster_.goes_on); // the others make it anew
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
            [] { return "not all nodes have ended their parts"; }))
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
    return table->declared.options;
}

void Tables::tell_metrics(const std::string &url) {
    Lock lock(mutex_);
    begin({0, of_metrics + std::to_string(self_), url});
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

void Tables::receive(const FrameHeader &header, const BoardMessage &message) {
    Lock lock(mutex_);
    const Notice &notice = message.notice;
    switch (message.what) {
    case BoardMessage::What::proposal: board_.receive_proposal(header.from, header.epoch, message.id, notice); break;
    case BoardMessage::What::notice: board_.receive(header.from, header.epoch, notice); break;
    case BoardMessage::What::answer: board_.receive_answer(header.from, header.epoch, message.id); break;
    case BoardMessage::What::copy: board_.receive_copy(header.from, header.epoch, notice); break;
    case BoardMessage::What::changes: board_.receive_changes(header.from, header.epoch, notice.number); break;
    case BoardMessage::What::ask: board_.receive_ask(header.from, header.epoch); break;
    }
    changed_.notify_all();
}

void Tables::begin_epoch(uint32_t epoch, const std::vector<NodeId> &members) {
    Lock lock(mutex_);
    board_.begin(epoch, members);
    changed_.notify_all();
}

void Tables::lose(NodeId node) {
    Lock lock(mutex_);
    if (cluster_.goes_on) return; // an epoch begins without it
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
    FrameHeader header = header_;
    header.epoch = board_.term();
    outgoing_.emplace_back(to, message.encode(header));
    wake_();
}

void Tables::propose(NodeId host, uint64_t id, const Notice &notice) {
    post(host, {BoardMessage::What::proposal, id, notice});
}

void Tables::tell(NodeId to, const Notice &notice) { post(to, {BoardMessage::What::notice, 0, notice}); }

void Tables::answer(NodeId to, uint64_t id) { post(to, {BoardMessage::What::answer, id, {}}); }

void Tables::copy(NodeId to, const Notice &notice) { post(to, {BoardMessage::What::copy, 0, notice}); }

void Tables::tell_changes(NodeId to, uint64_t changes) {
    post(to, {BoardMessage::What::changes, 0, {changes, "", ""}});
}

void Tables::ask(NodeId to) { post(to, {BoardMessage::What::ask, 0, {}}); }

std::string Tables::completed(const Notice &proposed) const {
    return is_name(proposed.name) ? Declaration{proposed.text, board_.members()}.text() : proposed.text;
}

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
    if (notice.name.rfind(of_metrics, 0) == 0)
        cluster_.note_metrics(read_node(notice.name.substr(of_metrics.size()), cluster_.places), notice.text);
    if (!is_name(notice.name)) return; // of a part, which the thread looks for, or of a place
    if (!notice.text.empty()) {
        tables_[notice.name] = std::make_shared<Table>(notice, Declaration::read(notice.text, cluster_.places));
        if (!thread_.joinable() && !stopped_) start();
        return;
    }
    const std::shared_ptr<Table> table = find(notice.name);
    if (!table || table->number != notice.number) return;
    // A node that could not make its part has said so before it, or another node, took the table down.
    if (table->state < State::works) {
        table->failure = failure_of(*table);
        table->was_left = left(*table).has_value();
    }
    table->state = table->failure.empty() ? State::dropped : State::failed;
    tables_.erase(notice.name);
    if (table->node) table->node->end_workers("table '" + table->name + "' was dropped");
    ended_.push_back(table);
}

} // namespace ps
