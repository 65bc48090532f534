// Threads note that keys were changed while one takes the changes: of each note something is taken later, and nothing
// that nobody noted. Keys that were noted and not yet taken are few among many, so that all levels are used.
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "segment/changes.h"

using namespace ps;

namespace {

struct Area {
    explicit Area(uint64_t num_keys)
        : memory(new std::atomic<uint64_t>[Changes::bytes(num_keys) / 8]()),
          changes(reinterpret_cast<char *>(memory.get()), num_keys) {}
    std::unique_ptr<std::atomic<uint64_t>[]> memory;
    Changes changes;
};

void takes_what_was_noted(uint64_t num_keys) {
    Area area(num_keys);
    CHECK(!area.changes.any());
    for (uint64_t key : {uint64_t(0), num_keys / 2, num_keys - 1}) {
        area.changes.note(key);
        area.changes.note(key);
        CHECK(area.changes.any());
        std::vector<uint64_t> taken;
        area.changes.take(&taken);
        CHECK(taken == std::vector<uint64_t>{key});
        CHECK(!area.changes.any());
    }
}

// Each thread's keys are its own. It counts its note before the note itself, as a worker writes a value before.
void loses_nothing(uint64_t num_keys) {
    constexpr int noters = 3, notes = 20'000;
    Area area(num_keys);
    std::unique_ptr<std::atomic<uint32_t>[]> noted(new std::atomic<uint32_t>[num_keys]());
    std::vector<uint32_t> seen(num_keys);
    std::atomic<int> running{noters};
    std::vector<std::thread> threads;
    for (int number = 0; number < noters; number++)
        threads.emplace_back([&, number] {
            std::mt19937_64 random{uint64_t(number)};
            for (int i = 0; i < notes; i++) {
                uint64_t key = random() % num_keys;
                noted[key]++;
                area.changes.note(key);
            }
            running--;
        });
    for (bool last = false; !last;) {
        last = running == 0;
        std::vector<uint64_t> taken;
        area.changes.take(&taken);
        for (uint64_t key : taken) {
            CHECK(key < num_keys && noted[key] > 0);
            seen[key] = noted[key];
        }
    }
    for (std::thread &thread : threads) thread.join();
    for (uint64_t key = 0; key < num_keys; key++) CHECK(seen[key] == noted[key]);
}

} // namespace

int main() {
    for (uint64_t num_keys : {1, 2, 64, 65, 4096, 4097, 300'000}) {
        takes_what_was_noted(num_keys);
        loses_nothing(num_keys);
    }
    std::puts("ok");
}
