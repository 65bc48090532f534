// Which row of a node's tables a key has: the directory's entry, whether it was changed and the like are kept by rows.
//
// There are two ways, with the same calls, for loops that are compiled for each: RangeRows, of the keys 0, 1, 2, ...;
// and HashedRows, of any 64-bit keys, which get rows as they come (see row_maker.h).
//
// RangeRows keep the keys of one home together, in rows from a power of two on. So a node fills the rows of the keys
// that begin on it, and the pages of all others take no memory before such a key is used there. The only node's rows
// are its keys.
//
// HashedRows lie in shared memory: the key of each row, and a table of slots by the keys' hash, each with a row and
// half of the hash. Whoever reads takes no latch. A row stays what it is as long as its key is there, so that a latch
// in its entry keeps its meaning; only the table changes. A larger one is filled while the former one is still looked
// at, and a reader that finds nothing looks whether the tables were others meanwhile. A row whose key went can get
// another one: who has taken a latch asks once more what its row's key is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "divisor.h"
#include "protocol/key_space.h"
#include "segment/mapping.h"

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

    uint64_t size() const { return ((nodes_ - 1) << bits_) + num_keys(0); } // with rows that have no key
    Row first(uint32_t home) const { return Row{uint64_t(home) << bits_}; }
    uint64_t num_keys(uint32_t home) const { return (num_keys_ + nodes_ - 1 - home) / nodes_; }

    Row find(uint64_t key) const { return key < num_keys_ ? row(key) : no_row; }
    Row row(uint64_t key) const { // of a key that is in the range
        uint64_t turn = divisor_.quotient(key);
        return Row{((key - turn * nodes_) << bits_) + turn};
    }
    uint64_t key(Row row) const { // of a row that has one
        uint64_t home = number_of(row) >> bits_;
        return (number_of(row) - (home << bits_)) * nodes_ + home;
    }

    template <class Body>
    void for_each(Body &&body) const { // body(row, key)
        for (uint64_t key = 0; key < num_keys_; key++) body(row(key), key);
    }

    // Finding a key in three steps, with others between them: see HashedRows.
    static constexpr bool has_slots = false;
    void prefetch(uint64_t) const {}
    Row guess(uint64_t key) const { return find(key); }
    Row confirm(Row guessed, uint64_t) const { return guessed; }

private:
    uint64_t num_keys_, nodes_;
    Divisor divisor_;
    uint32_t bits_ = 0; // a row's lower ones count the keys of a home, the upper ones are the home
};

class HashedRows {
public:
    static uint64_t bytes(uint32_t most_rows); // of addresses; what of them is committed follows the keys
    static constexpr uint64_t keys_at = 4096; // of the rows, in these bytes

    HashedRows(char *memory, uint32_t most_rows); // zeroed memory is that of no keys

    Row find(uint64_t key) const { // or no_row
        const uint64_t hashed = hash(key);
        for (uint64_t tables = head_->tables.load(std::memory_order_acquire);;) {
            Row row = find_in(current_of(tables), key, hashed);
            if (row == no_row && former_of(tables)) row = find_in(former_of(tables), key, hashed);
            if (row != no_row) return row;
            uint64_t now = head_->tables.load(std::memory_order_acquire);
            if (now == tables) return no_row;
            tables = now;
        }
    }
    uint64_t key(Row row) const { return keys_[number_of(row)].load(std::memory_order_acquire); }
    uint64_t count() const { return head_->rows.load(std::memory_order_acquire); } // rows that had a key at least once
    template <class Body>
    void for_each(Body &&body) const { // body(row, key), of the rows that have a key now
        for (uint64_t number = 0, rows = count(); number < rows; number++) {
            uint64_t key = this->key(Row{number});
            if (find(key) == Row{number}) body(Row{number}, key);
        }
    }

    // Finding a key in three steps, so that what the next one looks at can come meanwhile: where its slot is, which row
    // that slot names unless hashes are alike, and whether it is the key's.
    static constexpr bool has_slots = true;
    void prefetch(uint64_t key) const {
        if (uint32_t table = current_of(head_->tables.load(std::memory_order_relaxed)))
            __builtin_prefetch(&slots(table)[hash(key) & (size(table) - 1)]);
    }
    Row guess(uint64_t key) const {
        const uint32_t table = current_of(head_->tables.load(std::memory_order_acquire));
        if (!table) return no_row;
        const uint64_t hashed = hash(key), mask = size(table) - 1;
        for (uint64_t tried = 0, at = hashed & mask; tried < longest_guess; tried++, at = (at + 1) & mask) {
            uint64_t slot = slots(table)[at].load(std::memory_order_acquire);
            if (slot == 0) return no_row;
            if (slot >> 32 != hashed >> 32 || slot == removed) continue;
            Row row = row_in(slot);
            __builtin_prefetch(&keys_[number_of(row)]);
            return row;
        }
        return no_row;
    }
    Row confirm(Row guessed, uint64_t key) const {
        return guessed != no_row && this->key(guessed) == key ? guessed : find(key);
    }

private:
    friend class RowMaker;

    // Bits 0-7 the table where keys are made, 8-15 the one before while keys are still in it alone; 0 is none. The
    // rest counts how often that changed.
    struct alignas(64) Head {
        std::atomic<uint64_t> tables;
        std::atomic<uint32_t> rows; // that had a key at least once: the first ones
    };
    // Bits 0-31 the row + 1, 32-63 the upper half of the key's hash. 0 ends a search, `removed` does not.
    using Slot = std::atomic<uint64_t>;
    static constexpr uint64_t removed = uint64_t(1) << 32;
    static constexpr uint64_t smallest = 512; // slots of a table: a page
    static constexpr uint64_t longest_guess = 8; // slots: a line of the cache

    static uint64_t hash(uint64_t key) { return KeySpace::hash(key); }
    static uint64_t slot_of(Row row, uint64_t hashed) { return (number_of(row) + 1) | hashed >> 32 << 32; }
    static Row row_in(uint64_t slot) { return Row{(slot & 0xffffffff) - 1}; }

    static uint32_t current_of(uint64_t tables) { return tables & 0xff; }
    static uint32_t former_of(uint64_t tables) { return tables >> 8 & 0xff; }

    // Two tables of each size, 1 and 2 of the smallest one, so that one can be made anew.
    static uint64_t size(uint32_t table) { return smallest << (table - 1) / 2; }
    static uint64_t place(uint32_t table) { // in slots behind the first table: all that are smaller, and its twin
        return 2 * (size(table) - smallest) + ((table - 1) % 2) * size(table);
    }
    Slot *slots(uint32_t table) const { return tables_ + place(table); }

    Row find_in(uint32_t table, uint64_t key, uint64_t hashed) const {
        if (!table) return no_row;
        const Slot *slots = this->slots(table);
        const uint64_t mask = size(table) - 1;
        for (uint64_t tried = 0, at = hashed & mask; tried <= mask; tried++, at = (at + 1) & mask) {
            uint64_t slot = slots[at].load(std::memory_order_acquire);
            if (slot == 0) return no_row;
            Row row = row_in(slot);
            if (slot >> 32 == hashed >> 32 && slot != removed && this->key(row) == key) return row;
        }
        return no_row;
    }

    Head *head_;
    std::atomic<uint64_t> *keys_;
    Slot *tables_;
};

} // namespace ps
