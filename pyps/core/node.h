// A ps_node: the handle of a process for a node, which it created or attached to.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>

#include "segment/handover.h"
#include "segment/segment.h"
#include "server/server.h"
#include "store/slabs.h"
#include "store/trace.h"
#include "tables/tables.h"
#include "worker/barrier.h"

namespace ps {

// Notices that the server process died; looks at most every tenth of a second. Shared by a process's workers.
class ServerWatch {
public:
    void check(const Segment &segment); // throws PS_ELOST

private:
    std::atomic<double> last_{0};
};

// A store and what this process needs to use it. The ps_node and its workers share it; it goes with the last of them
// that is open.
struct Attachment {
    explicit Attachment(std::shared_ptr<Segment> s) : segment(std::move(s)) {}

    void require_open(); // throws PS_ECLOSED, PS_ELOST
    // The way to the node's server inside this process; null if the server is in another one.
    std::shared_ptr<Inside> inside() const;

    std::shared_ptr<Segment> segment;
    ServerWatch watch;
    std::weak_ptr<Inside> server_inside; // set before the node is connected
    std::string address; // that this process has attached to; empty in the one that created the node
    bool is_table = false;
    std::atomic<double> patience{HUGE_VAL}; // seconds after which a wait returns PS_EBUSY; see ps_node_set_patience
};

} // namespace ps

struct [[gnu::visibility("hidden")]] ps_node {
public:
    enum class Part { node, table };
    static ps_node *create(const ps_node_options &options, const ps::PushRule &push = {},
                           const ps::Initializer &initializer = {}, Part part = Part::node,
                           const std::vector<ps::NodeId> &first = {}); // nodes; empty: those below num_nodes
    static ps_node *attach(const std::string &address, double timeout);
    ~ps_node() { shutdown(); }

    std::string listen();
    void secure(const ps::CurveKeys &keys);
    void trace(const std::vector<ps::Key> &keys); // an empty list: all keys
    int64_t take_trace(ps_trace_event *events, int64_t capacity, int64_t *forgotten);
    std::string bind(const std::string &endpoint);
    void connect(const std::vector<std::string> &endpoints);
    int32_t join(const std::vector<std::string> &endpoints, double timeout); // see ps_node_join
    int32_t take_place(double timeout, int32_t *number); // see ps_node_take_place
    void set_metrics(uint32_t number, const std::string &url); // see ps_node_set_metrics
    int32_t barrier(double timeout);
    int32_t leave(double timeout);
    int32_t hand_over(double timeout); // see ps_node_hand_over
    void enable_sampling(const ps_sampling_options &options);
    // Named tables: see Tables. These two return PS_OK, or PS_EBUSY if the patience is over first.
    int32_t table(const std::string &name, const std::string &options, double timeout, ps_node **table);
    int32_t drop_table(const std::string &name, double timeout);
    std::string table_names(); // a line for each
    std::string table_options(const std::string &name); // throws PS_ESTATE if there is no such table
    void end_workers(const std::string &why = ""); // see TableNode
    void end_together(); // all nodes end now: no farewell
    void shutdown() noexcept;
    bool is_open();
    std::shared_ptr<ps::Attachment> attachment(); // throws PS_ECLOSED after shutdown

private:
    explicit ps_node(std::shared_ptr<ps::Attachment> attachment) : attachment_(std::move(attachment)) {}
    static std::shared_ptr<ps::Tables> make_tables(const std::shared_ptr<ps::Segment> &segment);
    std::shared_ptr<ps::Tables> own_tables();
    std::vector<std::shared_ptr<ps::Segment>> segments(); // of this node and its tables
    static int32_t ask_server(ps::Attachment &attachment, ps::Question question, std::string *answer);
    std::string answer(const ps::Question &question);
    bool is_creator() const; // and in that process itself, not in a child that it forked
    void serve_alone();
    void begin_to_join(const std::vector<std::string> &endpoints);
    bool begin_anew(const char *what); // ends the server if nothing uses it yet; true: call serve_alone() afterwards
    int32_t wait(ps::Barrier &barrier, ps::Segment &segment, ps::Rounds &rounds, ps::ArrivalWord &arrival,
                 double timeout, double patience, const std::function<void()> &check);

    std::mutex barrier_mutex_, leave_mutex_; // guard the barriers; held while waiting
    ps::Barrier barrier_, leave_;
    std::mutex mutex_; // guards what follows
    std::shared_ptr<ps::Attachment> attachment_; // null after shutdown
    std::unique_ptr<ps::Trace> trace_; // null if none was asked for; stays after shutdown
    std::shared_ptr<ps::Tables> tables_; // only there; null if this is a table's node
    std::unique_ptr<ps::Slabs> slabs_; // only in the process that created the node
    std::unique_ptr<ps::Listener> listener_;
    std::unique_ptr<ps::Server> server_; // null on the only node if keys are a range; see Header::has_server
};
