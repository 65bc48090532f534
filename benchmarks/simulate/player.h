// A worker: the shipped one, whose calls wait in simulated time, and the steps that it does.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "cluster.h"
#include "node.h"
#include "worker/worker.h"
#include "workload.h"

namespace ps::simulate {

enum class Management { classic, relocation, intent, automatic }; // as in examples/apps

// All workers wait here for each other. What the shipped barrier sends is not simulated: it takes a message to the
// first node and one back.
class Meeting {
public:
    Meeting(Cluster &cluster, size_t count) : cluster_(cluster), count_(count) {}
    void come(Thread &self);
    const std::vector<double> &times() const { return times_; } // at which all had come

private:
    Cluster &cluster_;
    const size_t count_;
    std::vector<Thread *> waiting_;
    std::vector<double> times_;
};

class [[gnu::visibility("hidden")]] Player {
public:
    Player(Cluster &cluster, Node &node, Meeting &meeting, std::unique_ptr<Workload> workload);

    bool has_ended() const { return thread_.fiber().has_ended(); }
    double computed() const { return thread_.computed(); }
    const Node &node() const { return node_; }
    uint64_t keys() const { return keys_; } // pulled and pushed
    uint64_t keys_local() const { return keys_local_; }
    double pushed() const { return pushed_; } // the sum of all that was

private:
    class Connection;
    class Door;
    struct Buffer {
        int64_t timestamp;
        std::vector<float> values;
    };

    void play(Thread &self);
    void play(Thread &self, const Step &step);
    void run(int32_t operation, const Step &step);
    void wait_for_pulls();
    void tell(const Step &step);
    float *buffer(size_t elements);
    double coldness(Thread &self) const;

    Cluster &cluster_;
    Node &node_;
    Meeting &meeting_;
    const Management management_;
    const double cold_; // seconds
    std::unique_ptr<Workload> workload_;
    std::shared_ptr<Door> door_;
    std::unique_ptr<ps_worker> worker_;
    std::deque<Buffer> buffers_; // of operations that may be on their way
    std::vector<int64_t> pulls_; // that were not waited for yet
    uint64_t keys_ = 0, keys_local_ = 0;
    double pushed_ = 0;
    Thread thread_;
};

} // namespace ps::simulate
