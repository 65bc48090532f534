// Failed operations are told once each, exactly as long as they are few; when they are many, none of them is forgotten.
#include <map>
#include <random>

#include "check.h"
#include "requests/failures.h"

using namespace ps;

namespace {

constexpr int64_t timestamps = 300;

// In any order, beside a map that has each by itself.
void check_few(uint64_t seed) {
    std::mt19937_64 random(seed);
    Failures failures;
    std::map<int64_t, NodeId> known;
    for (int step = 0; step < 2000; step++) {
        auto timestamp = int64_t(random() % timestamps);
        if (random() % 2) {
            auto node = NodeId(random() % 2);
            if (known.emplace(timestamp, node).second) failures.add(timestamp, node);
        } else {
            auto found = known.find(timestamp);
            CHECK(failures.take(timestamp) == (found == known.end() ? no_node : found->second));
            if (found != known.end()) known.erase(found);
        }
        CHECK(failures.empty() == known.empty());
        CHECK(failures.stretches() <= known.size());
    }
    if (!known.empty()) CHECK(failures.take_all() == known.begin()->second);
    CHECK(failures.empty());
}

// Every other operation fails and nobody asks for long.
void check_many() {
    constexpr int64_t count = 100'000;
    Failures failures;
    for (int64_t timestamp = 0; timestamp < count; timestamp += 2) {
        failures.add(timestamp, NodeId(timestamp % 3));
        CHECK(failures.stretches() <= Failures::most);
    }
    CHECK(failures.take(count) == no_node && failures.take(count - 1) == no_node);
    int64_t told = 0;
    for (int64_t timestamp = count; timestamp-- > 0;) {
        bool failed = failures.take(timestamp) != no_node;
        CHECK(failed || timestamp % 2);
        told += failed;
        bool is_late = timestamp > count - 2 * int64_t(Failures::most) + 2;
        if (is_late) CHECK(failed == (timestamp % 2 == 0));
    }
    CHECK(failures.empty() && told > count / 2);
    failures.add(5, 1);
    CHECK(failures.take(5) == 1 && failures.take(5) == no_node);
}

void check_runs_take_no_room() {
    Failures failures;
    for (int64_t timestamp = 0; timestamp < 1'000'000; timestamp++) failures.add(timestamp, 1);
    CHECK(failures.stretches() == 1);
}

} // namespace

int main() {
    for (uint64_t seed = 0; seed < 50; seed++) check_few(seed);
    check_many();
    check_runs_take_no_room();
    std::printf("ok\n");
}
