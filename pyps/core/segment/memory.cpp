#include "segment/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace ps {

namespace {

constexpr uint64_t unlimited = UINT64_MAX;

// The text of a small file; empty if there is none. In a libps.so that Ubuntu 24.04 built, C++ streams read nothing.
std::string text_of(const std::string &path) {
    std::string text;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text;
    char part[4096];
    for (ssize_t got; (got = ::read(fd, part, sizeof part)) > 0;) text.append(part, size_t(got));
    ::close(fd);
    return text;
}

std::vector<std::string> lines_of(const std::string &path) {
    std::vector<std::string> lines;
    const std::string text = text_of(path);
    for (size_t from = 0, to; from < text.size(); from = to + 1) {
        to = std::min(text.find('\n', from), text.size());
        lines.push_back(text.substr(from, to - from));
    }
    return lines;
}

// The number at the beginning of a text, or `otherwise` if there is none, as in "max".
uint64_t number_in(const std::string &text, uint64_t otherwise) {
    char *end;
    const uint64_t value = std::strtoull(text.c_str(), &end, 10);
    return end == text.c_str() ? otherwise : value;
}

// The number after `name` in a file of "name value" lines.
uint64_t field(const std::string &path, const std::string &name, uint64_t otherwise) {
    for (const std::string &line : lines_of(path))
        if (line.rfind(name + " ", 0) == 0) return number_in(line.substr(name.size()), otherwise);
    return otherwise;
}

uint64_t number(const std::string &path, uint64_t otherwise) { return number_in(text_of(path), otherwise); }

uint64_t room(const std::string &group, const char *limit_name, const char *used_name, const char *cache_name) {
    uint64_t limit = number(group + limit_name, unlimited);
    uint64_t used = number(group + used_name, 0);
    if (limit == unlimited) return unlimited;
    uint64_t reclaimable = std::min(used, field(group + "/memory.stat", cache_name, 0));
    used -= reclaimable;
    return used < limit ? limit - used : 0;
}

uint64_t control_group_room() {
    uint64_t least = room("/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                          "total_inactive_file");
    for (const std::string &line : lines_of("/proc/self/cgroup")) {
        if (line.rfind("0::", 0) != 0) continue;
        std::string path = line.substr(3);
        for (;;) {
            if (path == "/") path.clear();
            least = std::min(least, room("/sys/fs/cgroup" + path, "/memory.max", "/memory.current", "inactive_file"));
            if (path.empty()) break;
            path.resize(path.rfind('/'));
        }
    }
    return least;
}

} // namespace

uint64_t available_memory() {
    uint64_t kilobytes = field("/proc/meminfo", "MemAvailable:", unlimited / 1024);
    return std::min(kilobytes * 1024, control_group_room());
}

} // namespace ps
