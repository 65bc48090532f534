// Where a key lives: one 64-bit word per key, which is the key's latch as well.
//
// Workers look at `residence` only: values of owned and shared keys are here, at `index`; everything else is left to
// the server. For an absent key the index bits say where the key was seen last.
#pragma once

#include <atomic>
#include <cstdint>

namespace ps {

// absent: the key lives elsewhere. owned: this node has its value. shared: several nodes have replicas, and this one
// has the value or a replica (see SharedHead). awaited: it is on its way here.
enum class Residence : uint64_t { absent = 0, owned = 1, shared = 2, awaited = 3 };

constexpr uint32_t most_workers = 4094; // if the server has one channel
constexpr uint32_t most_classes = 4096;
constexpr uint32_t epochs = 32;

// The holder of a latch: the slot (1..4095) of a worker or of one of the server's channels, and how often that slot has
// been claimed (mod 32), so that a new owner of a slot is not taken for a dead former one.
using Holder = uint64_t;
constexpr uint64_t held_bit = uint64_t(1) << 17;
constexpr Holder make_holder(uint32_t slot, uint32_t epoch) { return held_bit | slot | uint64_t(epoch % epochs) << 12; }
constexpr uint32_t slot_of(Holder holder) { return holder & 0xfff; }
constexpr uint32_t epoch_of(Holder holder) { return holder >> 12 & (epochs - 1); }

// A latch that nothing holds has a version: how often it was held (mod 2^17). A reader that finds the same word before
// and after it has read a value has read an unchanged value, unless a version started again at 0 meanwhile: then the
// header's `version_turns` has changed.
constexpr uint64_t versions = held_bit;

// Bits 0-17: latch, with its holder or version; 18-19: residence; 20-31: length class; 32-63: index of the value among
// those of its class. Only a latch's holder may change bits 18-63.
class Place {
public:
    explicit constexpr Place(uint64_t word) : word_(word) {}
    constexpr Place(Residence residence, uint32_t length_class, uint32_t index)
        : word_(uint64_t(residence) << 18 | uint64_t(length_class) << 20 | uint64_t(index) << 32) {}

    constexpr uint64_t word() const { return word_; } // version 0 if it was made from parts
    constexpr bool is_held() const { return word_ & held_bit; }
    constexpr Holder holder() const { return word_ & latch_bits; } // if it is held
    constexpr uint64_t version() const { return word_ & latch_bits; } // if it is not
    constexpr Residence residence() const { return Residence(word_ >> 18 & 3); }
    constexpr uint32_t length_class() const { return word_ >> 20 & 0xfff; }
    constexpr uint32_t index() const { return uint32_t(word_ >> 32); }
    constexpr bool is_here() const { return residence() == Residence::owned || residence() == Residence::shared; }
    constexpr Place held_by(Holder holder) const { return with_latch(holder); }
    constexpr Place with_version(uint64_t version) const { return with_latch(version); }
    constexpr Place latched_as(Place other) const { return with_latch(other.word_ & latch_bits); }

private:
    static constexpr uint64_t latch_bits = held_bit | (held_bit - 1);
    constexpr Place with_latch(uint64_t latch) const { return Place((word_ & ~latch_bits) | latch); }

    uint64_t word_;
};

// Where an absent key was seen last, kept in its index bits: node + 1, or 0 if it is not known.
constexpr uint32_t most_nodes = 4095;
constexpr uint32_t seen_at(uint32_t node) { return node + 1; }
constexpr bool is_known(uint32_t seen) { return seen != 0; }
constexpr uint32_t node_of(uint32_t seen) { return seen - 1; }

using Entry = std::atomic<uint64_t>;
static_assert(Entry::is_always_lock_free && sizeof(Entry) == 8, "the directory is shared between processes");

} // namespace ps
