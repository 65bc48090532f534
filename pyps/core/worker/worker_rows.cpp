// A worker's access to whole rows, and its questions about them.
#include <algorithm>

#include "errors.h"
#include "store/batch.h"
#include "store/whole_rows.h"
#include "worker/worker.h"

using namespace ps;

// Returns a timestamp; -1 if the answers are complete.
int64_t ps_worker::ask_about_rows(Operation operation, const int64_t *keys, int64_t num_keys, uint8_t *answers) {
    auto held = lock();
    Segment &segment = require_open();
    check_keys(segment, keys, num_keys);
    if (num_keys > 0 && !answers) fail(PS_EINVAL, Where{}, "there is no place for the answers");
    last_.store(-1, std::memory_order_relaxed);
    if (segment.header().is_range()) {
        if (operation == Operation::erase)
            fail(PS_EINVAL, Where{-1, segment.header().num_keys, 0},
                 "the keys are the range [0, %lld), whose rows always exist: only a server without num_keys can delete "
                 "keys",
                 static_cast<long long>(segment.header().num_keys));
        std::fill(answers, answers + num_keys, 1);
        return -1;
    }
    Deadline deadline(default_wait_timeout);
    wait_for_order({int32_t(operation), 0, keys, num_keys, answers, 0, 0, -1, 0}, deadline);
    if (segment.header().places == 1 && operation == Operation::contains) { // as the only home would answer
        for (int64_t i = 0; i < num_keys; i++) answers[i] = segment.row(uint64_t(keys[i])) != no_row;
        return -1;
    }
    if (num_keys == 0) return -1;
    remote(patience_, deadline.left()).make_room(uint64_t(num_keys) * (sizeof(Key) + 1), deadline.left());
    const int64_t timestamp = remote().ask_about_rows(operation, keys, num_keys, answers);
    last_.store(timestamp, std::memory_order_relaxed);
    return timestamp;
}

int64_t ps_worker::find_keys(int32_t which, int64_t *next, int64_t *keys, int64_t capacity) {
    auto held = lock();
    return ps::find_keys(require_open(), which, next, keys, capacity);
}

void ps_worker::read_rows(const RowBatch &batch) {
    auto held = lock();
    ps::read_rows(require_open(), latches_, batch);
}

void ps_worker::write_rows(const RowBatch &batch) {
    auto held = lock();
    ps::write_rows(require_open(), latches_, batch);
}
