#include "server/served.h"

#include <map>
#include <mutex>
#include <utility>

#include "segment/process.h"

namespace ps {

namespace {

struct Served {
    std::mutex mutex;
    uint32_t generation = 0;
    std::map<uint64_t, int> nodes; // by cluster

    std::map<uint64_t, int> &mine() { // nodes of this process, not those of a parent that forked it
        if (std::exchange(generation, fork_generation()) != fork_generation()) nodes.clear();
        return nodes;
    }
};

Served &served() {
    static Served instance;
    return instance;
}

} // namespace

void serve_here(uint64_t cluster) {
    std::lock_guard<std::mutex> lock(served().mutex);
    served().mine()[cluster]++;
}

void serve_no_more(uint64_t cluster) {
    std::lock_guard<std::mutex> lock(served().mutex);
    auto &mine = served().mine();
    auto found = mine.find(cluster);
    if (found != mine.end() && --found->second == 0) mine.erase(found);
}

bool is_served_here(uint64_t cluster) {
    std::lock_guard<std::mutex> lock(served().mutex);
    return served().mine().count(cluster);
}

} // namespace ps
