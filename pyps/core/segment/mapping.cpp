#include "segment/mapping.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "errors.h"
#include "segment/memory.h"

namespace ps {

namespace {
constexpr int collapse = 25; // MADV_COLLAPSE, which Linux has since 6.1 but some systems' headers have not
constexpr uint64_t step = 64ull << 20; // an interrupted fallocate starts again: so it is called for parts of this size
constexpr uint64_t worth_asking = 1ull << 20; // for less than this, the host's free memory is not looked up
} // namespace

Mapping Mapping::create(size_t reserved) {
    int fd = ::memfd_create("pyps", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) fail_with_errno("memfd_create");
    Mapping mapping(fd, reserved);
    // No process may shrink the file while others use its memory.
    if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) fail_with_errno("F_ADD_SEALS");
    return mapping;
}

Mapping Mapping::adopt(int fd, size_t reserved) {
    Mapping mapping(fd, reserved);
    int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK)) fail(PS_EADDRESS, Where{}, "the server's memory is not sealed");
    return mapping;
}

Mapping::Mapping(int fd, size_t reserved) : fd_(fd), reserved_(reserved) {
    // A large page of the file can be mapped as one only if the range begins where a large page can begin.
    size_t range = reserved + large_page;
    void *found = ::mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *base = found;
    if (found != MAP_FAILED) {
        auto *first = static_cast<char *>(found);
        size_t before = round_up(uintptr_t(first), large_page) - uintptr_t(first), after = large_page - before;
        base = ::mmap(first + before, reserved, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
        if (before) ::munmap(first, before);
        if (after) ::munmap(first + range - after, after);
        if (base == MAP_FAILED) ::munmap(first + before, reserved);
    }
    if (base == MAP_FAILED) {
        int number = errno;
        ::close(fd);
        fail(PS_ENOMEM, Where{-1, number, 0}, "no range of %zu addresses is free for the store", reserved);
    }
    base_ = static_cast<char *>(base);
}

Mapping::Mapping(Mapping &&other) noexcept
    : fd_(std::exchange(other.fd_, -1)), reserved_(other.reserved_), limit_(other.limit_),
      base_(std::exchange(other.base_, nullptr)) {}

Mapping::~Mapping() {
    if (base_) ::munmap(base_, reserved_);
    if (fd_ >= 0) ::close(fd_);
}

void Mapping::commit(uint64_t offset, uint64_t bytes) {
    uint64_t begin = round_down(offset, page), end = round_up(offset + bytes, page);
    require_room(end - begin);
    allocate(begin, end);
}

void Mapping::commit_admitted(uint64_t offset, uint64_t bytes) {
    allocate(round_down(offset, page), round_up(offset + bytes, page));
}

void Mapping::extend(uint64_t bytes) {
    if (size() < bytes && ::ftruncate(fd_, static_cast<off_t>(bytes)) < 0) fail_with_errno("ftruncate");
}

void Mapping::commit_large(uint64_t offset, uint64_t bytes) {
    uint64_t begin = round_down(offset, page), end = round_up(offset + bytes, page);
    require_room(end - begin);
    uint64_t next = round_up(begin, large_page), last = round_down(end, large_page);
    if (next < last) {
        allocate(begin, next);
        allocate(end - page, end); // the system makes large pages only before the file's end
        make_large(next, last - next);
    }
    allocate(begin, end); // allocates what did not become large pages
}

// The system copies what is there, fills up with zeros, and frees the small pages. It may have no large pages, or none
// left.
void Mapping::make_large(uint64_t offset, uint64_t bytes) {
    for (uint64_t next = offset; next < offset + bytes; next += large_page) allocate(next, next + page);
    (void)::madvise(at(offset), bytes, collapse); // all in one call, as each call waits for all processors
}

void Mapping::allocate(uint64_t begin, uint64_t end) {
    while (begin < end) {
        uint64_t part = std::min(step, end - begin);
        if (::fallocate(fd_, 0, static_cast<off_t>(begin), static_cast<off_t>(part)) == 0) {
            begin += part;
        } else if (errno == ENOSPC || errno == ENOMEM || errno == EFBIG) {
            fail(PS_ENOMEM, Where{-1, static_cast<int64_t>(part), 0},
                 "the system refused %llu more bytes of shared memory", static_cast<unsigned long long>(part));
        } else if (errno != EINTR) {
            fail_with_errno("fallocate");
        }
    }
}

void Mapping::require_room(uint64_t bytes) const {
    if (limit_ && committed() + bytes > limit_)
        fail(PS_ENOMEM, Where{-1, static_cast<int64_t>(bytes), static_cast<int64_t>(limit_)},
             "%llu bytes more would exceed the memory limit of %llu bytes: raise memory_limit",
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(limit_));
    if (bytes < worth_asking) return;
    uint64_t room = available_memory();
    if (bytes > room)
        fail(PS_ENOMEM, Where{-1, static_cast<int64_t>(bytes), static_cast<int64_t>(room)},
             "the store needs %llu bytes more, this host has %llu left", static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(room));
}

void Mapping::discard(uint64_t offset, uint64_t bytes) noexcept {
    uint64_t begin = round_up(offset, page), end = round_down(offset + bytes, page);
    if (begin >= end) return;
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    while (::fallocate(fd_, mode, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) < 0 && errno == EINTR) {
    }
}

uint64_t Mapping::committed() const {
    struct stat status;
    if (::fstat(fd_, &status) < 0) fail_with_errno("fstat");
    return static_cast<uint64_t>(status.st_blocks) * 512;
}

uint64_t Mapping::committed(uint64_t offset, uint64_t bytes) const {
    uint64_t begin = round_up(offset, page), end = round_down(offset + bytes, page), found = 0;
    std::vector<unsigned char> is_there(4096); // pages
    for (uint64_t pages; begin < end; begin += pages * page) {
        pages = std::min<uint64_t>((end - begin) / page, is_there.size());
        if (::mincore(at(begin), pages * page, is_there.data()) < 0) fail_with_errno("mincore");
        for (uint64_t i = 0; i < pages; i++) found += is_there[i] & 1;
    }
    return found * page;
}

uint64_t Mapping::size() const {
    struct stat status;
    if (::fstat(fd_, &status) < 0) fail_with_errno("fstat");
    return static_cast<uint64_t>(status.st_size);
}

} // namespace ps
