#include "net/zeromq/links.h"

namespace ps {

void ZmqLinks::connect(NodeId node, const std::string &endpoint) {
    probes_[node].aim(endpoint);
    links_.connect(node, endpoint);
}

void ZmqLinks::wait(int descriptor, double seconds) {
    wait_for_any({&links_.socket(), &links_.events().socket(), &messages_.socket()}, descriptor, seconds);
}

} // namespace ps
