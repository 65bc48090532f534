// A node of one table, as the tables of a node see it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tables/declaration.h"

namespace ps {

class TableNode {
public:
    virtual ~TableNode() = default;
    virtual std::string bind() = 0; // returns the endpoint
    // By node, empty where there is none. False: it joins the others, which have not let it in yet; call again.
    virtual bool connect(const std::vector<std::string> &endpoints) = 0;
    // Their calls fail with `why`, or as after a server's end if it is empty. The node itself goes on for other nodes.
    virtual void end_workers(const std::string &why) = 0;
    virtual void shut_down(bool with_others) = 0; // all nodes do, at about the same time
};

// Makes this node's part of a declared table; `number` is the table's, the same on all nodes. Throws Failure.
using MakeTableNode = std::function<std::shared_ptr<TableNode>(const Declaration &declared, uint64_t number)>;

} // namespace ps
