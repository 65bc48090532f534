// The functions of ps.h about optimizers, initializers and compression.
#include <cstdio>

#include "abi.h"
#include "node.h"

using namespace ps;

extern "C" {

int32_t ps_node_get_optimizer(ps_node *node, char *text, size_t capacity) {
    return with_node(node, [&](ps_node &n) {
        std::snprintf(&require(text, "text"), capacity, "%s", n.attachment()->segment->optimizer().c_str());
    });
}

int32_t ps_read_optimizer(const char *optimizer, char *text, size_t capacity) {
    return guarded([&] {
        const PushRule push = PushRule::read(&require(optimizer, "optimizer"));
        std::snprintf(&require(text, "text"), capacity, "%s", push.rule().describe(push.settings).c_str());
        return int32_t(PS_OK);
    });
}

int32_t ps_node_get_initializer(ps_node *node, char *text, size_t capacity) {
    return with_node(node, [&](ps_node &n) {
        const Header &header = n.attachment()->segment->header();
        std::snprintf(&require(text, "text"), capacity, "%s", header.initializer.describe().c_str());
    });
}

int32_t ps_read_initializer(const char *initializer, char *text, size_t capacity) {
    return guarded([&] {
        const Initializer read = Initializer::read(&require(initializer, "initializer"));
        std::snprintf(&require(text, "text"), capacity, "%s", read.describe().c_str());
        return int32_t(PS_OK);
    });
}

int32_t ps_read_compression(const char *compression, char *text, size_t capacity) {
    return guarded([&] {
        const Compression read = Compression::read(&require(compression, "compression"), PS_FLOAT32);
        std::snprintf(&require(text, "text"), capacity, "%s", read.describe().c_str());
        return int32_t(PS_OK);
    });
}

int32_t ps_node_tune(ps_node *node, const char *settings) {
    return with_node(node, [&](ps_node &n) { n.attachment()->segment->tune(&require(settings, "settings")); });
}

} // extern "C"
