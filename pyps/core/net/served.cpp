#include "net/served.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "process.h"

namespace ps {

namespace {

struct Served {
    std::mutex mutex;
    uint32_t generation = 0;
    std::vector<std::string> endpoints;

    std::vector<std::string> &mine() { // a forked child serves nothing
        if (std::exchange(generation, fork_generation()) != fork_generation()) endpoints.clear();
        return endpoints;
    }
};

Served &served() {
    static Served instance;
    return instance;
}

} // namespace

void serve_here(const std::string &endpoint) {
    std::lock_guard<std::mutex> lock(served().mutex);
    served().mine().push_back(endpoint);
}

void serve_no_more(const std::string &endpoint) {
    std::lock_guard<std::mutex> lock(served().mutex);
    auto &endpoints = served().mine();
    auto found = std::find(endpoints.begin(), endpoints.end(), endpoint);
    if (found != endpoints.end()) endpoints.erase(found);
}

bool is_served_here(const std::vector<std::string> &endpoints) {
    std::lock_guard<std::mutex> lock(served().mutex);
    auto &mine = served().mine();
    return std::any_of(mine.begin(), mine.end(), [&](const std::string &endpoint) {
        return std::find(endpoints.begin(), endpoints.end(), endpoint) != endpoints.end();
    });
}

} // namespace ps
