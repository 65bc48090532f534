#include "segment/rows.h"

#include "segment/row_maker.h"

namespace ps {

const HashedRows::Bucket HashedRows::empty{};

uint64_t HashedRows::bytes(uint64_t most_rows) {
    uint32_t largest = RowMaker::table_for(most_rows) + 1; // the second table of the size
    return (place(largest) + size(largest)) * sizeof(Bucket);
}

HashedRows::HashedRows(char *memory, char *directory)
    : head_(reinterpret_cast<Head *>(memory)), directory_(reinterpret_cast<Word *>(directory)),
      tables_(reinterpret_cast<Bucket *>(memory)) {}

} // namespace ps
