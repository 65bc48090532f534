#include "segment/rows.h"

namespace ps {

namespace {
constexpr uint32_t tables = 2 * 24; // the largest one has room for as many rows as there can be
} // namespace

const HashedRows::Bucket HashedRows::empty{};

uint32_t HashedRows::table_for(uint64_t keys) {
    uint32_t table = 1;
    while (table < tables - 1 && fullest(table) < 2 * keys) table += 2;
    return table;
}

uint64_t HashedRows::bytes(uint64_t most_rows) {
    uint32_t largest = table_for(most_rows) + 1; // the second table of the size
    return (place(largest) + size(largest)) * sizeof(Bucket);
}

HashedRows::HashedRows(char *memory, char *directory)
    : head_(reinterpret_cast<Head *>(memory)), directory_(reinterpret_cast<Word *>(directory)),
      tables_(reinterpret_cast<Bucket *>(memory)) {}

} // namespace ps
