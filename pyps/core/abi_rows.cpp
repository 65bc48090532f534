// The functions of ps.h about rows, and about workers that use them beside the training.
#include "abi.h"
#include "node.h"
#include "store/batch.h"
#include "worker/worker.h"

using namespace ps;

extern "C" {

int32_t ps_worker_create_aside(ps_node *node, ps_worker **worker) {
    return with_node(node, [&](ps_node &n) {
        require(worker, "worker");
        auto attachment = n.attachment();
        attachment->require_open();
        *worker = new ps_worker(attachment, Role::aside);
    });
}

int32_t ps_node_row_sizes(ps_node *node, const int64_t *keys, int64_t num_keys, int64_t *lengths, int64_t *bytes) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        const Segment &segment = *attachment->segment;
        check_keys(segment, keys, num_keys);
        for (int64_t i = 0; i < num_keys; i++) {
            const LengthClass &c = segment.class_of(uint64_t(keys[i]));
            (&require(lengths, "lengths"))[i] = c.length;
            (&require(bytes, "bytes"))[i] = int64_t(c.whole_bytes);
        }
    });
}

int32_t ps_contains(ps_worker *worker, const int64_t *keys, int64_t num_keys, uint8_t *found, int64_t *timestamp) {
    return guarded([&] {
        require(timestamp,
                "timestamp") = require(worker, "worker").ask_about_rows(Operation::contains, keys, num_keys, found);
        return int32_t(PS_OK);
    });
}

int32_t ps_delete(ps_worker *worker, const int64_t *keys, int64_t num_keys, uint8_t *deleted, int64_t *timestamp) {
    return guarded([&] {
        require(timestamp,
                "timestamp") = require(worker, "worker").ask_about_rows(Operation::erase, keys, num_keys, deleted);
        return int32_t(PS_OK);
    });
}

int32_t ps_find_keys(ps_worker *worker, int32_t which, int64_t *next, int64_t *keys, int64_t capacity, int64_t *count) {
    return guarded([&] {
        require(count, "count") = require(worker, "worker")
                                      .find_keys(which, &require(next, "next"), &require(keys, "keys"), capacity);
        return int32_t(PS_OK);
    });
}

int32_t ps_read_rows(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *rows, int64_t bytes,
                     uint8_t *here) {
    return guarded([&] {
        require(worker, "worker").read_rows({keys, num_keys, static_cast<char *>(rows), bytes, here});
        return int32_t(PS_OK);
    });
}

int32_t ps_write_rows(ps_worker *worker, const int64_t *keys, int64_t num_keys, const void *rows, int64_t bytes,
                      uint8_t *here) {
    return guarded([&] {
        char *from = const_cast<char *>(static_cast<const char *>(rows));
        require(worker, "worker").write_rows({keys, num_keys, from, bytes, here});
        return int32_t(PS_OK);
    });
}

} // extern "C"
