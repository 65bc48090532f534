// The functions of ps.h for named tables.
#include <cstring>

#include "abi.h"
#include "errors.h"
#include "node.h"
#include "ps.h"
#include "tables/options.h"
#include "text_key.h"

using namespace ps;

namespace {

void copy_text(const std::string &text, const char *what, char *to, size_t capacity) {
    if (capacity <= text.size())
        fail(PS_ESIZE, Where{-1, int64_t(capacity), int64_t(text.size() + 1)}, "the %s have %zu bytes", what,
             text.size() + 1);
    std::memcpy(&require(to, what), text.c_str(), text.size() + 1);
}

} // namespace

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
    return with_node(node, [&](ps_node &n) { copy_text(n.table_names(), "names", names, capacity); });
}

int32_t ps_node_table_options(ps_node *node, const char *name, char *options, size_t capacity) {
    return with_node(
        node, [&](ps_node &n) { copy_text(n.table_options(&require(name, "name")), "options", options, capacity); });
}

int64_t ps_text_key(const char *text, size_t bytes) { return text_key(text, bytes); }

} // extern "C"
