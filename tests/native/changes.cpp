// Threads note that rows were changed while one takes the changes: of each note something is taken later, and nothing
// that was not noted. Rows that were noted and not yet taken are few among many, so that all levels are used.
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "segment/changes.h"

using namespace ps;

namespace {

struct Area {
    explicit Area(uint64_t rows)
        : memory(new std::atomic<uint64_t>[Changes::bytes(rows) / 8]()),
          changes(reinterpret_cast<char *>(memory.get()), rows) {}
    std::vector<uint64_t> take() {
        std::vector<uint64_t> taken;
        changes.take([&](Row row) { taken.push_back(number_of(row)); });
        return taken;
    }
    std::unique_ptr<std::atomic<uint64_t>[]> memory;
    Changes changes;
};

void takes_what_was_noted(uint64_t rows) {
    Area area(rows);
    CHECK(!area.changes.any());
    for (uint64_t row : {uint64_t(0), rows / 2, rows - 1}) {
        area.changes.note(Row{row});
        area.changes.note(Row{row});
        CHECK(area.changes.any());
        CHECK(area.take() == std::vector<uint64_t>{row});
        CHECK(!area.changes.any());
    }
}

// Each thread's notes are its own. It counts its note before the note itself, as a worker writes a value before.
void loses_nothing(uint64_t rows) {
    constexpr int noters = 3, notes = 20'000;
    Area area(rows);
    std::unique_ptr<std::atomic<uint32_t>[]> noted(new std::atomic<uint32_t>[rows]());
    std::vector<uint32_t> seen(rows);
    std::atomic<int> running{noters};
    std::vector<std::thread> threads;
    for (int number = 0; number < noters; number++)
        threads.emplace_back([&, number] {
            std::mt19937_64 random{uint64_t(number)};
            for (int i = 0; i < notes; i++) {
                uint64_t row = random() % rows;
                noted[row]++;
                area.changes.note(Row{row});
            }
            running--;
        });
    for (bool last = false; !last;) {
        last = running == 0;
        for (uint64_t row : area.take()) {
            CHECK(row < rows && noted[row] > 0);
            seen[row] = noted[row];
        }
    }
    for (std::thread &thread : threads) thread.join();
    for (uint64_t row = 0; row < rows; row++) CHECK(seen[row] == noted[row]);
}

} // namespace

int main() {
    for (uint64_t rows : {1, 2, 64, 65, 4096, 4097, 300'000}) {
        takes_what_was_noted(rows);
        loses_nothing(rows);
    }
    std::puts("ok");
}
