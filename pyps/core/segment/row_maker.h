// Makes and removes rows of keys in HashedRows. One process does this at a time while others read. It may be killed at
// any instruction; each step writes one word, so the next RowMaker always finds consistent tables:
// - A slot's row is written before its tag.
// - A row counts as used before its key is written, and has its key before a slot names it. A row that is used but in
//   no slot is found by the next RowMaker, which looks through all rows.
// - A row loses its key after it is in no slot, and gets another one after that.
// - What is in a former table stays there until all of it is in the current one. Then the word that names the tables
//   changes, and then the former table's memory is given back. A key that is in both has the same row in both.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "segment/mapping.h"
#include "segment/rows.h"

namespace ps {

// An array with so many bytes for each group of rows, which is committed as rows come into use.
struct Column {
    uint64_t at; // in the mapping
    uint64_t group_bytes;
    uint64_t group = 1; // rows: a power of two, 512 at most

    uint64_t bytes(uint64_t rows) const { return (rows + group - 1) / group * group_bytes; }
};

class RowMaker {
public:
    // Rows that begin at `at` of the mapping, and their directory, both of which only this class commits. `columns`:
    // other arrays that go by rows.
    RowMaker(Mapping &mapping, uint64_t at, uint64_t directory_at, uint32_t most_rows, std::vector<Column> columns);

    // The row that the key has, or a new one; throws PS_ENOMEM, then nothing has changed. For a new row, `prepare(row)`
    // fills the columns before others can find the row; if it returns false, another row is tried.
    template <class Prepare>
    Row make(uint64_t key, Prepare &&prepare) {
        Row row = rows_.find(key);
        if (row != no_row) return row;
        make_room();
        row = take_free(prepare);
        if (row == no_row) prepare(row = take_new());
        name(row, key);
        return row;
    }
    Row make(uint64_t key) {
        return make(key, [](Row) { return true; });
    }
    // That will be needed if there are so many rows with keys: for new rows, and for the next table.
    uint64_t bytes_for(uint64_t live) const;
    bool remove(uint64_t key); // false if it is not there; the caller sees to what the row's columns have
    uint64_t live() const { return live_.load(std::memory_order_relaxed); } // from any thread
    const HashedRows &rows() const { return rows_; }

private:
    using Bucket = HashedRows::Bucket;

    static constexpr uint64_t at_once = 8; // buckets of the former table that are moved each time a key is made

    template <class Prepare>
    Row take_free(Prepare &&prepare) { // a row that had a key before; no_row if none can be had
        for (size_t at = free_.size(); at-- > 0;) {
            const Row row = free_[at];
            if (!prepare(row)) continue;
            free_.erase(free_.begin() + ptrdiff_t(at));
            return row;
        }
        return no_row;
    }
    Row take_new();
    void name(Row row, uint64_t key);
    uint64_t rows_in_columns(uint64_t rows) const;
    void commit_rows(uint64_t rows);
    void put(uint32_t table, Row row, uint64_t hashed);
    void make_room();
    void move_some(uint64_t buckets);
    void begin(uint32_t table);
    void finish();
    void discard(uint32_t table);
    void erase_in(uint32_t table, uint64_t key, Row row);
    uint64_t place_of(uint32_t table) const; // offset in the mapping
    uint32_t current() const { return HashedRows::current_of(rows_.head_->tables.load(std::memory_order_relaxed)); }
    uint32_t former() const { return HashedRows::former_of(rows_.head_->tables.load(std::memory_order_relaxed)); }
    void change_tables(uint32_t current, uint32_t former);

    Mapping &mapping_;
    const uint64_t at_;
    const uint32_t most_rows_;
    HashedRows rows_;
    std::vector<Column> columns_;
    std::deque<Row> free_; // rows without a key; a vector would be copied as a whole now and then
    uint64_t committed_ = 0;     // how many rows have memory
    std::atomic<uint64_t> live_{0}; // how many rows have a key; written by one thread at a time
    uint64_t used_ = 0; // slots of the current table that are not `unused`
    uint64_t moved_ = 0; // buckets of the former table that were moved
};

} // namespace ps
