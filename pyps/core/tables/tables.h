// The named tables of a node. A table is a node of its own in the same process, with its own memory, server and
// endpoint; all nodes of the cluster have a part of it.
//
// Which tables there are is agreed upon by a Board. Under a table's name stands its declaration; under "NUMBER/NODE"
// the endpoint at which that node has bound its part, or '!' and why it could not. A thread of this class, which begins
// with the first table, makes and connects the parts and ends them. A dropped table's parts go when all nodes have
// taken theirs off the board, which they do when their workers have ended: so no worker finds another node gone.
// The numbers that nodes were given which are to join stand there as well, and where a node's statistics can be read.
//
// Where keys have replicas, tables go on and are made when nodes have gone or come. A node that was no member when a
// table was declared joins the table, as it has joined the cluster; when it is let in, it says where its part is.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/board.h"
#include "tables/table_node.h"
#include "wire/board.h"

namespace ps {

class Tables : private Board::Port {
public:
    using Send = std::function<void(NodeId to, Bytes message)>;

    struct Cluster {
        NodeId places;
        std::vector<NodeId> first; // with which it starts
        bool goes_on; // when nodes are lost or leave: keys have replicas
        std::function<void(NodeId node, const std::string &url)> note_metrics; // where its statistics can be read
    };

    // `wake` lets the node's server call flush() soon.
    Tables(const FrameHeader &header, const Cluster &cluster, MakeTableNode make, std::function<void()> wake);
    ~Tables() { stop(); }
    void stop(); // shuts all tables down; waiting calls fail

    // For any thread. Seconds; they return null and false if `patience` is over first: call again. Both throw Failure.
    // Without options (an empty text) open() waits until some node has declared the table.
    std::shared_ptr<TableNode> open(const std::string &name, const std::string &options, double timeout,
                                    double patience);
    bool drop(const std::string &name, double timeout, double patience);
    // One of the numbers, which no node of the cluster gives again; null as above. Throws Failure.
    std::optional<NodeId> take_place(const std::vector<NodeId> &free, double timeout, double patience);
    void tell_metrics(const std::string &url); // where this node's statistics can be read; once
    std::vector<std::string> names(); // of those that work here
    std::string options(const std::string &name); // of one that was declared; throws PS_ESTATE
    void end_workers();
    std::vector<std::shared_ptr<TableNode>> nodes(); // of those that work here

    // For the server's thread.
    void receive(const FrameHeader &header, const BoardMessage &message); // throws Malformed
    void begin_epoch(uint32_t epoch, const std::vector<NodeId> &members);
    void lose(NodeId node); // it was lost or has left
    void flush(const Send &send);

private:
    enum class State { declared, bound, works, failed, dropped };
    struct Table {
        Table(const Notice &notice, const Declaration &declaration)
            : name(notice.name), number(notice.number), declared(declaration) {}

        const std::string name;
        const uint64_t number;
        const Declaration declared;
        State state = State::declared;
        std::string failure; // why it failed
        bool was_left = false; // it failed because one of its nodes was lost or has left
        std::string endpoint; // of this node's part
        std::shared_ptr<TableNode> node;
        bool has_bound = false; // this node has proposed its part for the board
        bool has_worked = false; // so other nodes may still use this part
        bool has_ended = false; // no worker of this node uses it any more, and the board says so
        bool is_shut_down = false;
    };
    struct Proposal {
        std::string name;
        std::shared_ptr<Table> table; // the one to drop; else the one that has the name when the proposal is answered
        bool is_answered = false;
    };
    struct Taking { // a number for a node that is to join
        NodeId node;
        std::string text; // nobody else's
        std::shared_ptr<Proposal> proposal;
    };
    using Lock = std::unique_lock<std::mutex>;

    void propose(NodeId host, uint64_t id, const Notice &notice) override;
    void tell(NodeId to, const Notice &notice) override;
    void answer(NodeId to, uint64_t id) override;
    void copy(NodeId to, const Notice &notice) override;
    void tell_changes(NodeId to, uint64_t changes) override;
    void ask(NodeId to) override;
    std::string completed(const Notice &proposed) const override;
    void adopted(const Notice &notice) override;
    void answered(uint64_t id) override;

    void post(NodeId to, const BoardMessage &message);
    std::shared_ptr<Proposal> begin(const Notice &notice, std::shared_ptr<Table> to_drop = nullptr);
    bool wait(Lock &lock, double end, double patience, const std::function<bool()> &is_over,
              const std::function<std::string()> &what_is_missing);
    std::shared_ptr<Table> declare(Lock &lock, const std::string &name, const std::string &options, double end,
                                   double patience);
    void require_all(); // no node was lost, if one would be missed
    std::shared_ptr<Table> find(const std::string &name) const;

    using Act = void (Tables::*)(Lock &lock, const std::shared_ptr<Table> &table);
    void start();
    void run();
    bool step(Lock &lock);
    std::optional<Act> act_on(const Table &table) const; // what is to be done now
    std::optional<Act> act_on_ended(const Table &table) const;
    void bind(Lock &lock, const std::shared_ptr<Table> &table);
    void connect(Lock &lock, const std::shared_ptr<Table> &table);
    void end(Lock &lock, const std::shared_ptr<Table> &table);
    void shut_down(Lock &lock, const std::shared_ptr<Table> &table);
    bool joins(const Table &table) const; // this node does, as it was no member when the table was declared
    bool is_free(const std::string &name, std::shared_ptr<Table> *table) const;
    bool may_end(const Table &table) const;
    bool is_used(const Table &table) const;
    const Notice *part(const Table &table, NodeId node) const; // null: the node has not said where it is
    std::string failure_of(const Table &table) const;
    std::optional<NodeId> left(const Table &table) const; // a node that was lost, or left, before it had made its part
    std::optional<NodeId> missing(const Table &table) const; // a node that is to make its part first
    std::vector<std::string> endpoints(const Table &table) const;

    const FrameHeader header_;
    const NodeId self_;
    const Cluster cluster_;
    const MakeTableNode make_;
    const std::function<void()> wake_;

    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    Board board_;
    std::map<std::string, std::shared_ptr<Table>> tables_;
    std::deque<std::shared_ptr<Table>> ended_; // their parts are still to be shut down
    uint64_t last_id_ = 0; // of a proposal
    std::map<uint64_t, std::shared_ptr<Proposal>> proposals_; // by id; not answered
    std::map<std::string, std::shared_ptr<Proposal>> dropped_; // of calls of drop() whose patience was over
    std::optional<Taking> taking_; // of a call whose patience was over
    std::vector<std::pair<NodeId, Bytes>> outgoing_;
    std::optional<NodeId> lost_; // the first one, where tables need all nodes
    bool is_deciding_lost_ = false; // then: node 0 is among the lost
    bool stopped_ = false;
    std::thread thread_;
};

} // namespace ps
