// A hash map from keys to small values in one block of memory: linear probing, the size a power of two, at most half
// full. Adding or removing a key may move the values of other keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ps {

template <class Value>
class FlatMap {
public:
    bool empty() const { return used_ == 0; }
    size_t size() const { return used_; }

    Value *find(uint64_t key) {
        if (used_ == 0) return nullptr;
        Slot &slot = slots_[place(key)];
        return slot.key == key ? &slot.value : nullptr;
    }
    const Value *find(uint64_t key) const { return const_cast<FlatMap *>(this)->find(key); }
    bool count(uint64_t key) const { return find(key); }

    Value &operator[](uint64_t key) { // a new value if the key is not there
        if (2 * (used_ + 1) > slots_.size()) grow();
        Slot &slot = slots_[place(key)];
        if (slot.key != key) {
            slot = Slot{key, Value{}};
            used_++;
        }
        return slot.value;
    }

    bool erase(uint64_t key) { // returns false if the key was not there
        if (used_ == 0) return false;
        uint64_t at = place(key);
        if (slots_[at].key != key) return false;
        const uint64_t mask = slots_.size() - 1;
        for (uint64_t next = (at + 1) & mask; slots_[next].key != free; next = (next + 1) & mask) {
            uint64_t ideal = hash(slots_[next].key);
            if (((next - ideal) & mask) < ((next - at) & mask)) continue;
            slots_[at] = std::move(slots_[next]);
            at = next;
        }
        slots_[at].key = free;
        if (--used_ == 0 && slots_.size() > most_kept) slots_ = std::vector<Slot>();
        return true;
    }

    template <class Body>
    void for_each(Body &&body) const { // body(key, value)
        for (const Slot &slot : slots_)
            if (slot.key != free) body(slot.key, slot.value);
    }

private:
    static constexpr uint64_t free = UINT64_MAX; // is no key
    static constexpr size_t first_size = 64, most_kept = 65536;

    struct Slot {
        uint64_t key = free;
        Value value{};
    };

    uint64_t hash(uint64_t key) const { return (key * 0x9e3779b97f4a7c15) >> shift_; }
    uint64_t place(uint64_t key) const {
        uint64_t at = hash(key);
        while (slots_[at].key != free && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<Slot> old = std::move(slots_);
        slots_ = std::vector<Slot>(old.empty() ? first_size : 2 * old.size());
        shift_ = 64 - __builtin_ctzll(slots_.size());
        for (Slot &slot : old)
            if (slot.key != free) slots_[place(slot.key)] = std::move(slot);
    }

    std::vector<Slot> slots_;
    uint64_t used_ = 0;
    int shift_ = 63;
};

} // namespace ps
