#include "segment/rows.h"

#include "segment/row_maker.h"

namespace ps {

static uint64_t keys_bytes(uint32_t most_rows) { return round_up(uint64_t(most_rows) * sizeof(uint64_t), 4096); }

uint64_t HashedRows::bytes(uint32_t most_rows) {
    uint32_t largest = RowMaker::table_for(most_rows) + 1; // the second of its size
    return keys_at + keys_bytes(most_rows) + (place(largest) + size(largest)) * sizeof(Slot);
}

HashedRows::HashedRows(char *memory, uint32_t most_rows)
    : head_(reinterpret_cast<Head *>(memory)), keys_(reinterpret_cast<std::atomic<uint64_t> *>(memory + keys_at)),
      tables_(reinterpret_cast<Slot *>(memory + keys_at + keys_bytes(most_rows))) {}

} // namespace ps
