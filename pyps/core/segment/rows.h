// Which row of a node's tables a key has. The directory's entries, the bits for changed keys and other things are kept
// by rows.
//
// There are two kinds with the same functions, and loops are compiled for each: RangeRows for the keys 0, 1, 2, ...;
// and HashedRows for any 64-bit keys, which get rows as they come (see row_maker.h).
//
// RangeRows keep the keys of one home together, beginning at a multiple of a power of two. So a node fills the rows of
// the keys that begin on it, and the pages of all others take no memory until such a key is used there. On the only
// node a key is its own row.
//
// HashedRows lie in shared memory. The directory has each row's key beside its entry, so that a reader gets both from
// one line of the cache. Tables find rows by the hash of their keys. A row's number is the position of its entry among
// the directory's words, an even number. A bucket of a table is a line of the cache with 12 slots; a slot has a row,
// and a tag of 8 bits of the hash.
//
// Readers take no latch. A key keeps its row as long as it is there, so a latch in the row's entry keeps its meaning;
// only the table changes. A larger table is filled while the former one is still in use, and a reader that finds
// nothing looks whether the tables have changed meanwhile. A row whose key was removed can get another key: so a
// process that has taken a latch, or has begun to read without one, checks the row's key once more (is_of). The row's
// entry goes on counting how often it was held, so a reader also notices if its key has gone and come again meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "divisor.h"
#include "mixing.h"
#include "segment/tags.h"

namespace ps {

enum class Row : uint64_t {};
constexpr Row no_row{UINT64_MAX};
constexpr uint64_t number_of(Row row) { return uint64_t(row); }

class RangeRows {
public:
    // Keys [0, num_keys), whose homes are `nodes` nodes in turn.
    RangeRows(uint64_t num_keys, uint32_t nodes) : num_keys_(num_keys), nodes_(nodes), divisor_(nodes) {
        while (uint64_t(1) << bits_ < this->num_keys(0)) bits_++;
    }

    uint64_t size() const { return ((nodes_ - 1) << bits_) + num_keys(0); } // includes rows that have no key
    Row first(uint32_t home) const { return Row{uint64_t(home) << bits_}; }
    uint64_t num_keys(uint32_t home) const { return (num_keys_ + nodes_ - 1 - home) / nodes_; }

    Row find(uint64_t key) const { return key < num_keys_ ? row(key) : no_row; }
    Row row(uint64_t key) const { // the key must be in the range
        uint64_t turn = divisor_.quotient(key);
        return Row{((key - turn * nodes_) << bits_) + turn};
    }
    uint64_t key(Row row) const { // the row must have a key
        uint64_t home = number_of(row) >> bits_;
        return (number_of(row) - (home << bits_)) * nodes_ + home;
    }

    static constexpr bool is_of(Row, uint64_t) { return true; } // keys keep their rows
    uint64_t places() const { return num_keys_; }
    template <class Body>
    void for_each(uint64_t from, uint64_t to, Body &&body) const { // body(row, key), of the rows at these places
        for (uint64_t key = from; key < to; key++) body(row(key), key);
    }

    // To find the keys of a batch in steps: see HashedRows.
    static constexpr bool has_slots = false, are_keys = false;
    struct View {};
    void prefetch(uint64_t) const {}
    Row guess(uint64_t key, uint64_t, const View &) const { return find(key); }

private:
    uint64_t num_keys_, nodes_;
    Divisor divisor_;
    uint32_t bits_ = 0; // the lower bits of a row number the keys of a home, the upper ones are the home
};

// RangeRows of the only node, where a key is its own row; for loops over many keys.
class OwnRows {
public:
    explicit OwnRows(uint64_t num_keys) : num_keys_(num_keys) {}
    Row find(uint64_t key) const { return key < num_keys_ ? Row{key} : no_row; }
    static constexpr bool is_of(Row, uint64_t) { return true; }

    static constexpr bool has_slots = false, are_keys = true;
    struct View {};

private:
    uint64_t num_keys_;
};

class HashedRows {
    struct Bucket;
    static const Bucket empty;

public:
    using Word = std::atomic<uint64_t>;
    static constexpr uint64_t row_words = 2; // of the directory: the entry and the key
    static constexpr uint64_t row_bytes = row_words * sizeof(Word);

    static uint64_t bytes(uint64_t most_rows); // of the range of addresses; memory is committed as keys come
    // All rows have smaller numbers.
    static constexpr uint64_t numbers(uint64_t most_rows) { return row_words * most_rows; }

    HashedRows(char *memory, char *directory); // zeroed memory has no keys

    Row find(uint64_t key) const { // or no_row
        const uint64_t hashed = mix(key);
        for (uint64_t tables = head_->tables.load(std::memory_order_acquire);;) {
            Row row = find_in(current_of(tables), key, hashed);
            if (row == no_row && former_of(tables)) row = find_in(former_of(tables), key, hashed);
            if (row != no_row) return row;
            uint64_t now = head_->tables.load(std::memory_order_acquire);
            if (now == tables) return no_row;
            tables = now;
        }
    }
    static constexpr uint64_t nobody = UINT64_MAX; // instead of a key, in a row whose key was removed
    uint64_t key(Row row) const { return key_word(row).load(std::memory_order_acquire); }
    // Whether a row that was found for the key is still its row.
    bool is_of(Row row, uint64_t key) const { return this->key(row) == key; }
    // Of the next table, if there are so many rows then.
    static uint64_t bytes_of_next_table(uint64_t rows) { return size(table_for(rows)) * sizeof(Bucket); }
    uint64_t count() const { return head_->rows.load(std::memory_order_acquire); } // rows that have or had a key
    uint64_t places() const { return count(); }
    template <class Body>
    void for_each(uint64_t from, uint64_t to, Body &&body) const { // body(row, key), of those rows that have a key now
        for (uint64_t index = from; index < to; index++) {
            const Row row = row_at(index);
            uint64_t key = this->key(row);
            if (find(key) == row) body(row, key);
        }
    }
    void prefetch(uint64_t key) const {
        View view;
        ask(key, &view);
    }

    // To find the keys of a batch in steps, so that the memory for the next step can come meanwhile: ask() prefetches a
    // key's bucket; guess() gives a row, which is wrong only if tags are alike or the bucket was full; confirm() checks
    // the key.
    static constexpr bool has_slots = true, are_keys = false;
    struct View { // the table where keys were added when the view was filled
        uint64_t tables = 0, mask = 0;
        const Bucket *buckets = &empty; // before there is a table
    };
    uint64_t ask(uint64_t key, View *view) const { // returns what guess() needs
        const uint64_t tables = head_->tables.load(std::memory_order_acquire), hashed = mix(key);
        if (__builtin_expect(tables != view->tables, 0)) {
            const uint32_t table = current_of(tables);
            *view = {tables, size(table) - 1, buckets(table)};
        }
        __builtin_prefetch(&view->buckets[hashed & view->mask]);
        return hashed;
    }
    Row guess(uint64_t, uint64_t asked, const View &view) const {
        const uint64_t at = asked & view.mask;
        const Bucket &bucket = view.buckets[at];
        const uint64_t found = bucket.tags.with(tag_of(asked));
        if (__builtin_expect(!found, 0)) {
            __builtin_prefetch(&view.buckets[(at + 1) & view.mask]);
            return no_row;
        }
        if (const uint64_t others = found & (found - 1); __builtin_expect(others != 0, 0))
            __builtin_prefetch(&key_word(bucket.row(Tags::first_of(others))));
        return bucket.row(Tags::first_of(found));
    }
    Row confirm(Row guessed, uint64_t key) const {
        return guessed != no_row && this->key(guessed) == key ? guessed : find(key);
    }

private:
    friend class RowMaker;

    // `tables`: bits 0-7 are the table to which keys are added, 8-15 the former one while some keys are only there (0:
    // none); the other bits count how often these have changed.
    struct alignas(64) Head {
        std::atomic<uint64_t> tables;
        std::atomic<uint32_t> rows; // how many rows have or had a key: the first ones
    };

    // A slot's tag: `unused` ends a search, `removed` does not, all others come from the hash of a key.
    static constexpr Tag unused = 0, removed = 1;
    static Tag tag_of(uint64_t hashed) { return Tag(std::max<uint64_t>(hashed >> 56, removed + 1)); }

    struct alignas(64) Bucket {
        Tags tags; // a slot's tag is written after its row
        std::atomic<uint32_t> rows[Tags::slots]; // half of each row's number

        Row row(uint32_t slot) const { return row_at(rows[slot].load(std::memory_order_relaxed)); }
    };

    static Row row_at(uint64_t index) { return Row{index * row_words}; }
    static uint32_t index_of(Row row) { return uint32_t(number_of(row) / row_words); }
    Word &key_word(Row row) const { return directory_[number_of(row) + 1]; }

    static uint32_t current_of(uint64_t tables) { return tables & 0xff; }
    static uint32_t former_of(uint64_t tables) { return tables >> 8 & 0xff; }

    // There are two tables of each size, numbers 1 and 2 of the smallest size, so that a table can be made anew in the
    // same size. Each lies at a multiple of its size, behind the head and all smaller tables, so that large ones can
    // have large pages.
    static constexpr uint64_t smallest = 64; // buckets: a page
    static uint64_t size(uint32_t table) { return smallest << (table - 1) / 2; }
    static uint64_t fullest(uint32_t table) { return size(table) * Tags::slots / 4 * 3; } // slots in use
    // The first table of the smallest size that is at most half as full as it may be with so many keys.
    static uint32_t table_for(uint64_t keys);
    static uint64_t place(uint32_t table) { return (2 + (table - 1) % 2) * size(table); } // in buckets
    Bucket *buckets(uint32_t table) const { return tables_ + place(table); }

    Row find_in(uint32_t table, uint64_t key, uint64_t hashed) const {
        if (!table) return no_row;
        const Bucket *buckets = this->buckets(table);
        const uint64_t mask = size(table) - 1;
        for (uint64_t tried = 0, at = hashed & mask; tried <= mask; tried++, at = (at + 1) & mask) {
            const Bucket &bucket = buckets[at];
            for (uint64_t found = bucket.tags.with(tag_of(hashed)); found; found &= found - 1) {
                Row row = bucket.row(Tags::first_of(found));
                if (this->key(row) == key) return row;
            }
            if (bucket.tags.with(unused)) return no_row;
        }
        return no_row;
    }

    Head *head_;
    Word *directory_;
    Bucket *tables_;
};

} // namespace ps
