#include "net/schemes.h"

#include <algorithm>
#include <iterator>

#include "errors.h"
#include "net/memory/transport.h"
#include "net/zeromq/transport.h"

namespace ps {

namespace {

struct Row {
    const char *scheme;
    std::unique_ptr<NodeTransport> (*make_node)(const NodeEnd &node, const std::string &endpoint);
    std::unique_ptr<WorkerTransport> (*make_worker)(const WorkerEnd &worker);
};

const Row rows[] = {
    {"tcp", make_zeromq_node, make_zeromq_worker},
    {"ipc", make_zeromq_node, make_zeromq_worker},
    {"memory", make_memory_node, make_memory_worker},
};

const Row &row_of(const std::string &endpoint) {
    auto found = std::find_if(std::begin(rows), std::end(rows),
                              [&](const Row &row) { return endpoint.rfind(std::string(row.scheme) + "://", 0) == 0; });
    if (found != std::end(rows)) return *found;
    std::string known;
    for (const Row &row : rows) known += (known.empty() ? "" : ", ") + std::string(row.scheme) + "://";
    fail(PS_EINVAL, Where{}, "'%s' is no endpoint: it must begin with one of %s", endpoint.c_str(), known.c_str());
}

} // namespace

std::unique_ptr<NodeTransport> make_node_transport(const NodeEnd &node, const std::string &endpoint) {
    return row_of(endpoint).make_node(node, endpoint);
}

std::unique_ptr<WorkerTransport> make_worker_transport(const WorkerEnd &worker, const std::string &endpoint) {
    return row_of(endpoint).make_worker(worker);
}

void require_same_transport(const std::string &own, const std::string &other) {
    if (row_of(own).make_node != row_of(other).make_node)
        fail(PS_EINVAL, Where{}, "a node that is bound to %s cannot reach one at %s: give them the same scheme",
             own.c_str(), other.c_str());
}

} // namespace ps
