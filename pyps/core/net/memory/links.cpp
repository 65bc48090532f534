#include "net/memory/links.h"

#include <utility>

namespace ps {

MemoryLinks::MemoryLinks(Hub &hub, std::shared_ptr<Host> host, const End &end)
    : hub_(hub), host_(std::move(host)), party_(true), probes_(end.num_nodes), wires_(hub, host_, party_, end) {
    hub_.set_links(*host_, &party_);
}

MemoryLinks::~MemoryLinks() { hub_.set_links(*host_, nullptr); }

Reach MemoryLinks::look(NodeId node, double now) {
    Reach reach = hub_.look(*host_, wires_.endpoint(node));
    if (reach == Reach::unknown && now < probes_[node].end) return reach;
    probes_[node].is_pending = false;
    return reach == Reach::unknown ? Reach::open : reach;
}

} // namespace ps
