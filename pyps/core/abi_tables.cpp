// The functions of ps.h for named tables.
#include <cstring>

#include "abi.h"
#include "errors.h"
#include "node.h"
#include "ps.h"
#include "tables/options.h"

using namespace ps;

extern "C" {

int32_t ps_node_table(ps_node *node, const char *name, const ps_node_options *options, double timeout,
                      ps_node **table) {
    return wait_for(node, "node", timeout, [&](ps_node &n, double limit) {
        require(name, "name");
        require(table, "table");
        return n.table(name, options ? TableOptions::of(known(options)).text() : "", limit, table);
    });
}

int32_t ps_node_drop_table(ps_node *node, const char *name, double timeout) {
    return wait_for(node, "node", timeout,
                    [&](ps_node &n, double limit) { return n.drop_table(&require(name, "name"), limit); });
}

int32_t ps_node_table_names(ps_node *node, char *names, size_t capacity) {
    return with_node(node, [&](ps_node &n) {
        const std::string found = n.table_names();
        if (capacity <= found.size())
            fail(PS_ESIZE, Where{-1, int64_t(capacity), int64_t(found.size() + 1)}, "the names have %zu bytes",
                 found.size() + 1);
        std::memcpy(&require(names, "names"), found.c_str(), found.size() + 1);
    });
}

} // extern "C"
