#include "net/zeromq/sign_of_life.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "net/zeromq/address.h"

namespace ps {

namespace {

// Never destroyed, because a process may fork while it ends.
struct Endpoints {
    std::mutex mutex; // held by the thread that forks, so that the child finds the map whole
    std::map<std::string, Address> known;
};

Endpoints &endpoints() {
    static auto *instance = new Endpoints;
    return *instance;
}

bool is_one_of_ours(int descriptor) {
    Address local;
    local.bytes = sizeof local.storage;
    if (getsockname(descriptor, reinterpret_cast<sockaddr *>(&local.storage), &local.bytes) != 0) return false;
    const auto &known = endpoints().known;
    return std::any_of(known.begin(), known.end(), [&](const auto &one) {
        return one.second.bytes == local.bytes && std::memcmp(&one.second.storage, &local.storage, local.bytes) == 0;
    });
}

// Runs in the child of a process that may have had several threads: so it makes system calls only, and allocates
// nothing.
void close_copies() {
    if (endpoints().known.empty()) return;
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    alignas(dirent64) char entries[4096];
    for (long size; (size = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0;) {
        for (long at = 0; at < size;) {
            const auto *entry = reinterpret_cast<const dirent64 *>(entries + at);
            at += entry->d_reclen;
            int descriptor = std::atoi(entry->d_name); // "." and ".." are 0, which is no socket of ours
            if (descriptor != directory && is_one_of_ours(descriptor)) close(descriptor);
        }
    }
    close(directory);
}

void watch_forks() {
    static const int registered = pthread_atfork([] { endpoints().mutex.lock(); }, [] { endpoints().mutex.unlock(); },
                                                 [] {
                                                     close_copies();
                                                     endpoints().mutex.unlock();
                                                 });
    (void)registered;
}

} // namespace

SignOfLife::SignOfLife(const std::string &endpoint) : endpoint_(endpoint) {
    watch_forks();
    Address address = address_of(endpoint);
    std::lock_guard<std::mutex> lock(endpoints().mutex);
    if (address.bytes) endpoints().known[endpoint] = address;
}

SignOfLife &SignOfLife::operator=(SignOfLife &&other) noexcept {
    std::swap(endpoint_, other.endpoint_);
    return *this;
}

SignOfLife::~SignOfLife() {
    if (endpoint_.empty()) return;
    std::lock_guard<std::mutex> lock(endpoints().mutex);
    endpoints().known.erase(endpoint_);
}

} // namespace ps
