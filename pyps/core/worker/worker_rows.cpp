// A worker's access to whole rows.
#include "store/whole_rows.h"

#include "worker/worker.h"

using namespace ps;

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
