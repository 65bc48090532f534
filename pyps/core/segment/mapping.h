// A memfd that is mapped over a reserved range of addresses, so that it can grow without moving. Offsets are the same
// in every process, addresses are not. Only memory that was committed, or extended to, may be touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// Down or up to a multiple of `to`.
inline uint64_t round_down(uint64_t bytes, uint64_t to) { return bytes / to * to; }
inline uint64_t round_up(uint64_t bytes, uint64_t to) { return round_down(bytes + to - 1, to); }

class Mapping {
public:
    static constexpr uint64_t page = 4096;
    static constexpr uint64_t large_page = 2ull << 20; // bytes; a large page begins at a multiple of this

    static Mapping create(size_t reserved);
    static Mapping adopt(int fd, size_t reserved); // takes the descriptor over, even if it throws

    Mapping(Mapping &&other) noexcept;
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping();

    char *at(uint64_t offset) const { return base_ + offset; }
    int fd() const { return fd_; }
    size_t reserved() const { return reserved_; }

    void limit(uint64_t bytes) { limit_ = bytes; } // 0: only the host's memory is the limit
    void require_room(uint64_t bytes) const;       // throws PS_ENOMEM
    // Allocates memory, with zeros where it was not committed before; throws PS_ENOMEM.
    void commit(uint64_t offset, uint64_t bytes);
    void commit_admitted(uint64_t offset, uint64_t bytes); // the same without looking at the limit; see room.h
    // Memory below this size may be touched from now on. A page that is not committed is allocated when it is first
    // written or read.
    void extend(uint64_t bytes);
    // As `commit`, for memory that will all be used, in any order: takes large pages if the system has some.
    void commit_large(uint64_t offset, uint64_t bytes);
    // Turn this part into large pages, with its content, if the system has some. Both arguments must be multiples of
    // them.
    void make_large(uint64_t offset, uint64_t bytes = large_page);
    // Gives the pages that lie wholly inside back to the system, if possible.
    void discard(uint64_t offset, uint64_t bytes) noexcept;
    uint64_t committed() const; // bytes in use, with those pages that were allocated by being touched
    uint64_t committed(uint64_t offset, uint64_t bytes) const; // the same of the pages that lie wholly inside
    uint64_t size() const; // bytes of the file

private:
    Mapping(int fd, size_t reserved);
    void allocate(uint64_t begin, uint64_t end); // offsets in the file, multiples of a page

    int fd_;
    size_t reserved_;
    uint64_t limit_ = 0;
    char *base_ = nullptr;
};

} // namespace ps
