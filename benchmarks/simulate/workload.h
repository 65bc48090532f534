// What workers do, step by step: as it was recorded of an application, or drawn by Zipf's law.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "costs.h"

namespace ps::simulate {

struct Step {
    // tell: these keys will be used in the clocks [start, end), which count from the worker's own. How a node is told
    // depends on the management. tell_and_wait: and the worker waits until that has had its effect, where it can.
    // tell_sample: the same for keys that were drawn. sync: replicas are exchanged; `start` is how many exchanges the
    // worker is behind. wait: until all pulls have their values. The numbers are those of recording.py.
    enum class Kind : int64_t {
        compute = 0,
        pull,
        push,
        tell,
        tell_and_wait,
        tell_sample,
        wait,
        advance,
        sync,
        barrier
    };

    Kind kind{};
    std::vector<int64_t> keys{};
    int64_t start = 0, end = 0;
    double seconds = 0; // that it computes
};

class Workload {
public:
    virtual ~Workload() = default;
    virtual bool next(Step *step) = 0; // false: it is over
};

// Makes the workload of each worker, whose numbers count through all nodes.
class Workloads {
public:
    virtual ~Workloads() = default;
    virtual std::unique_ptr<Workload> of(int64_t worker) = 0;
};

std::unique_ptr<Workloads> make_workloads(const Settings &settings);

} // namespace ps::simulate
