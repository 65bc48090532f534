#include "mapping.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "errors.h"
#include "memory.h"

namespace ps {

namespace {
constexpr uint64_t page = 4096;
constexpr uint64_t step = 64ull << 20;        // an interrupted fallocate starts again: not with everything
constexpr uint64_t worth_asking = 1ull << 20; // below, the host's free memory is not looked up
} // namespace

Mapping Mapping::create(size_t reserved) {
    int fd = ::memfd_create("pyps", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) fail_with_errno("memfd_create");
    Mapping mapping(fd, reserved);
    // Nobody may take committed memory away below the others.
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
    void *base = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
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
    uint64_t begin = offset / page * page, end = (offset + bytes + page - 1) / page * page;
    require_room(end - begin);
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

void Mapping::discard(uint64_t offset, uint64_t bytes) {
    uint64_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
    if (begin >= end) return;
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    while (::fallocate(fd_, mode, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) < 0)
        if (errno != EINTR) fail_with_errno("fallocate(PUNCH_HOLE)");
}

uint64_t Mapping::committed() const {
    struct stat status;
    if (::fstat(fd_, &status) < 0) fail_with_errno("fstat");
    return static_cast<uint64_t>(status.st_blocks) * 512;
}

uint64_t Mapping::size() const {
    struct stat status;
    if (::fstat(fd_, &status) < 0) fail_with_errno("fstat");
    return static_cast<uint64_t>(status.st_size);
}

} // namespace ps
