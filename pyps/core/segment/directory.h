// Where a key lives: one 64-bit word per key of the key space, which also is the key's latch.
//
// This is the seam between local and remote. Operations look only at `residence`: `owned` and `shared` are answered
// here by `index`, anything else belongs to whoever moves parameters between nodes. The index bits of an absent key
// say where it was seen last.
#pragma once

#include <atomic>
#include <cstdint>

namespace ps {

// absent: lives elsewhere. owned: this node has the value. shared: nodes have replicas, this one the value or one of
// them (see SharedHead). awaited: on its way.
enum class Residence : uint64_t { absent = 0, owned = 1, shared = 2, awaited = 3 };

constexpr uint32_t most_workers = 4094; // with one channel of the server
constexpr uint32_t most_classes = 4096;
constexpr uint32_t epochs = 64;

// What holds the latch: a slot (1..4095; 0: nothing), a worker's or a channel's of the server, and how often that slot
// had been claimed (mod 64), so that a slot's new owner is not taken for a dead former one.
using Holder = uint64_t;
constexpr Holder nobody = 0;
constexpr Holder make_holder(uint32_t slot, uint32_t epoch) { return slot | uint64_t(epoch % epochs) << 12; }
constexpr uint32_t slot_of(Holder holder) { return holder & 0xfff; }
constexpr uint32_t epoch_of(Holder holder) { return holder >> 12 & (epochs - 1); }

// bits 0-17 holder, 18-19 residence, 20-31 length class, 32-63 index of the value among those of its class.
// All but the holder change only while the latch is held.
class Place {
public:
    explicit constexpr Place(uint64_t word) : word_(word) {}
    constexpr Place(Residence residence, uint32_t length_class, uint32_t index)
        : word_(uint64_t(residence) << 18 | uint64_t(length_class) << 20 | uint64_t(index) << 32) {}

    constexpr uint64_t word() const { return word_; } // without a holder if made from parts
    constexpr Holder holder() const { return word_ & 0x3ffff; }
    constexpr Residence residence() const { return Residence(word_ >> 18 & 3); }
    constexpr uint32_t length_class() const { return word_ >> 20 & 0xfff; }
    constexpr uint32_t index() const { return uint32_t(word_ >> 32); }
    constexpr bool is_here() const { return residence() == Residence::owned || residence() == Residence::shared; }
    constexpr Place held_by(Holder holder) const { return Place((word_ & ~uint64_t(0x3ffff)) | holder); }

private:
    uint64_t word_;
};

// Where an absent key was seen last, kept in its index bits: node + 1, or 0 if that is not known.
constexpr uint32_t most_nodes = 4095;
constexpr uint32_t seen_at(uint32_t node) { return node + 1; }
constexpr bool is_known(uint32_t seen) { return seen != 0; }
constexpr uint32_t node_of(uint32_t seen) { return seen - 1; }

using Entry = std::atomic<uint64_t>;
static_assert(Entry::is_always_lock_free && sizeof(Entry) == 8, "the directory is shared between processes");

} // namespace ps
