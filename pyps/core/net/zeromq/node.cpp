#include "net/zeromq/node.h"

#include "net/zeromq/carriers.h"
#include "net/zeromq/library.h"
#include "net/zeromq/limits.h"
#include "net/zeromq/links.h"

namespace ps {

ZmqNode::ZmqNode(const NodeEnd &node, const std::string &endpoint)
    : context_((require_room_for_nodes(node.end.num_nodes), node.end.keys), node.end.longest,
               int(carriers_of_node(node.threads, node.end.num_nodes, usable_processors()))),
      routers_(context_, node.max_workers), peers_(context_, node.end.num_nodes, node.end.name, node.end.heartbeats) {
    if (!context_.keys().public_key.empty())
        admission_ = std::make_unique<Admission>(context_, routers_.outside(), *node.refused);
    endpoint_ = routers_.bind(endpoint);
}

std::string ZmqNode::library() const { return zmq_path(); }

std::unique_ptr<Links> ZmqNode::links(const std::string &name, Heartbeats heartbeats) {
    return std::make_unique<ZmqLinks>(context_, NodeId(peers_.size()), name, heartbeats, peers_.events());
}

} // namespace ps
