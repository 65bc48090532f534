// Makes and removes rows of keys in HashedRows. One process does so at a time, whoever else reads; it may be killed at
// any instruction: what the next RowMaker finds is whole, since each step is one word that is written.
// - A slot's row is written before its tag.
// - A row counts as used before its key is written, and has its key before a slot names it: between them it is lost to
//   nobody but the next RowMaker, which looks through all rows and finds it.
// - What is in a former table stays there until all of it is in the current one; then the tables' word changes, and
//   then the former one's memory is given back. A key that is in both is found in either, with the same row.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/mapping.h"
#include "segment/rows.h"

namespace ps {

// Something with so many bytes for each group of rows, which is committed as rows come.
struct Column {
    uint64_t at; // in the mapping
    uint64_t group_bytes;
    uint64_t group = 1; // rows: a power of two, 512 at most
};

class RowMaker {
public:
    // Rows that begin at `at` of the mapping, and their directory, which this alone commits. `columns`: what else has
    // rows.
    RowMaker(Mapping &mapping, uint64_t at, uint64_t directory_at, uint32_t most_rows, std::vector<Column> columns);

    // A row that the key has, or a new one; throws PS_ENOMEM, then nothing has changed. Of a new one `prepare(row)`
    // fills the columns before anybody finds it.
    template <class Prepare>
    Row make(uint64_t key, Prepare &&prepare) {
        Row row = rows_.find(key);
        if (row != no_row) return row;
        make_room();
        row = take_row();
        prepare(row);
        name(row, key);
        return row;
    }
    Row make(uint64_t key) {
        return make(key, [](Row) {});
    }
    bool remove(uint64_t key); // false: it is not there. What its row's columns have is the caller's affair.
    uint64_t live() const { return live_; }
    const HashedRows &rows() const { return rows_; }

private:
    friend class HashedRows;
    using Bucket = HashedRows::Bucket;

    static constexpr uint64_t at_once = 8; // buckets of a former table that are moved with a key that is made
    // The first of the smallest size that is at most half as full as it may be.
    static uint32_t table_for(uint64_t keys);

    Row take_row();
    void name(Row row, uint64_t key);
    void commit_rows(uint64_t rows);
    void put(uint32_t table, Row row, uint64_t hashed);
    void make_room();
    void move_some(uint64_t buckets);
    void begin(uint32_t table);
    void finish();
    void discard(uint32_t table);
    void erase_in(uint32_t table, uint64_t key, Row row);
    uint64_t place_of(uint32_t table) const; // in the mapping
    uint32_t current() const { return HashedRows::current_of(rows_.head_->tables.load(std::memory_order_relaxed)); }
    uint32_t former() const { return HashedRows::former_of(rows_.head_->tables.load(std::memory_order_relaxed)); }
    void change_tables(uint32_t current, uint32_t former);

    Mapping &mapping_;
    const uint64_t at_;
    const uint32_t most_rows_;
    HashedRows rows_;
    std::vector<Column> columns_;
    std::vector<Row> free_;      // without a key
    uint64_t committed_ = 0;     // rows
    uint64_t live_ = 0;          // keys
    uint64_t used_ = 0;          // slots of the current table that are not unused
    uint64_t moved_ = 0;         // buckets of the former one that were looked at
};

} // namespace ps
