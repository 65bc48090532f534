// A memfd mapped over a reserved range of addresses, so that it grows without moving. Offsets mean the same in every
// process, addresses do not. Only what was committed or extended to may be touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// To a multiple of `to`.
inline uint64_t round_down(uint64_t bytes, uint64_t to) { return bytes / to * to; }
inline uint64_t round_up(uint64_t bytes, uint64_t to) { return round_down(bytes + to - 1, to); }

class Mapping {
public:
    static constexpr uint64_t large_page = 2ull << 20; // at such offsets of the range one can begin

    static Mapping create(size_t reserved);
    static Mapping adopt(int fd, size_t reserved); // takes the descriptor over, also when it throws

    Mapping(Mapping &&other) noexcept;
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping();

    char *at(uint64_t offset) const { return base_ + offset; }
    int fd() const { return fd_; }
    size_t reserved() const { return reserved_; }

    void limit(uint64_t bytes) { limit_ = bytes; } // 0: none but the host's
    void require_room(uint64_t bytes) const;       // throws PS_ENOMEM
    void commit(uint64_t offset, uint64_t bytes);  // zeroed where it was not committed before; throws PS_ENOMEM
    void commit_admitted(uint64_t offset, uint64_t bytes); // the same, whatever the limit: see room.h
    // What lies before may be touched, and takes memory a page at a time as it is: of an uncommitted page, reading is
    // a use too.
    void extend(uint64_t bytes);
    // As `commit`, for what will all be used, in any order: in large pages where the system has some.
    void commit_large(uint64_t offset, uint64_t bytes);
    // Large pages of what is there, and zeros, if the system has some; both are multiples of them.
    void make_large(uint64_t offset, uint64_t bytes = large_page);
    void discard(uint64_t offset, uint64_t bytes) noexcept; // gives the whole pages inside back, if it can
    uint64_t committed() const; // with the pages that were extended to and used
    uint64_t committed(uint64_t offset, uint64_t bytes) const; // of the whole pages inside
    uint64_t size() const; // of the file

private:
    Mapping(int fd, size_t reserved);
    void allocate(uint64_t begin, uint64_t end); // of the file, in pages

    int fd_;
    size_t reserved_;
    uint64_t limit_ = 0;
    char *base_ = nullptr;
};

} // namespace ps
