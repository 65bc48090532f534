#include "segment/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace ps {

namespace {

constexpr uint64_t unlimited = UINT64_MAX;

// The number after `name` in a file of "name value" lines.
uint64_t field(const std::string &path, const std::string &name, uint64_t otherwise) {
    std::ifstream file(path);
    std::string word;
    uint64_t value;
    while (file >> word) {
        if (word == name && file >> value) return value;
        std::getline(file, word);
    }
    return otherwise;
}

uint64_t number(const std::string &path, uint64_t otherwise) {
    std::ifstream file(path);
    uint64_t value;
    return file >> value ? value : otherwise; // the file may have "max" instead of a number
}

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
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
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
