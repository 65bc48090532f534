// Rows of keys: tags are found among others, the two ways answer alike, hashed ones follow a map through growth and
// removals within their memory, and they stay whole for readers in other processes while who makes them is killed.
//
// rows KILLS
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "check.h"
#include "errors.h"
#include "segment/row_maker.h"

using namespace ps;

namespace {

struct Memory {
    explicit Memory(uint32_t rows)
        : most_rows(rows), directory_at(round_up(HashedRows::bytes(rows), 4096)),
          notes_at(round_up(directory_at + rows * HashedRows::row_bytes, 4096)),
          mapping(Mapping::create(notes_at + round_up(rows * sizeof(uint64_t), 4096))) {}

    RowMaker maker() { return RowMaker(mapping, 0, directory_at, most_rows, {{notes_at, sizeof(uint64_t)}}); }
    HashedRows rows() const { return HashedRows(mapping.at(0), mapping.at(directory_at)); }
    std::atomic<uint64_t> &note(Row row) const {
        auto *notes = reinterpret_cast<std::atomic<uint64_t> *>(mapping.at(notes_at));
        return notes[number_of(row) / HashedRows::row_words];
    }

    const uint32_t most_rows;
    const uint64_t directory_at, notes_at;
    Mapping mapping;
};

Row nth(uint64_t index) { return Row{index * HashedRows::row_words}; }

template <class Compared>
void a_slot_with_a_tag_is_found_if_there_is_one() {
    std::mt19937_64 random(1);
    for (int round = 0; round < 100'000; round++) {
        uint64_t words[2] = {random(), random()};
        if (round % 2) words[0] &= 0x0101010101010101, words[1] &= 0x0301030103010301; // tags that are alike
        Tag tags[16];
        std::memcpy(tags, words, sizeof words);
        const Tag wanted = round % 3 ? tags[random() % 16] : Tag(random());
        const uint64_t found = Compared::with(words[0], words[1], wanted);
        CHECK((found != 0) == (std::count(tags, tags + Tags::slots, wanted) > 0));
        CHECK(!found || tags[Compared::first_of(found)] == wanted);
    }
}

template <class Rows>
uint64_t count_found(const Rows &rows, const std::vector<uint64_t> &keys) {
    uint64_t found = 0;
    for (uint64_t key : keys) rows.prefetch(key);
    for (uint64_t key : keys) {
        Row row = rows.find(key);
        found += row != no_row;
        CHECK(row == no_row || rows.key(row) == key);
    }
    return found;
}

void both_ways_answer_alike() {
    Memory memory(1000);
    RowMaker maker = memory.maker();
    std::vector<uint64_t> keys;
    for (uint64_t key = 0; key < 2000; key++) keys.push_back(key);
    CHECK(count_found(memory.rows(), keys) == 0);
    for (uint64_t key = 0; key < 1000; key++) CHECK(maker.make(key) == nth(key)); // one after another, as they come
    CHECK(count_found(RangeRows(1000, 1), keys) == 1000 && count_found(memory.rows(), keys) == 1000);
}

void too_many_keys_are_refused() {
    Memory memory(100);
    RowMaker maker = memory.maker();
    for (uint64_t key = 0; key < 100; key++) maker.make(~key);
    int32_t code = PS_OK;
    try {
        maker.make(7);
    } catch (const Failure &failure) {
        code = failure.error().code;
    }
    CHECK(code == PS_ENOMEM && maker.live() == 100 && memory.rows().find(7) == no_row);
    CHECK(maker.remove(~uint64_t(50)) && maker.make(7) == nth(50)); // that row is free
}

void they_follow_a_map() {
    Memory memory(40'000);
    RowMaker maker = memory.maker();
    HashedRows rows = memory.rows();
    std::map<uint64_t, Row> map;
    std::mt19937_64 random(3);
    std::vector<uint64_t> keys(30'000);
    for (uint64_t &key : keys) key = random() % 3 ? random() : random() % 1000; // any bits, and dense ones
    keys.push_back(0), keys.push_back(UINT64_MAX);
    for (int phase = 0; phase < 4; phase++) {
        const uint64_t likely = phase % 2 ? 1 : 3; // of 4 are made: it shrinks in every other phase
        for (int step = 0; step < 60'000; step++) {
            uint64_t key = keys[random() % keys.size()];
            if (random() % 4 < likely) {
                Row row = maker.make(key);
                auto known = map.emplace(key, row);
                CHECK(known.first->second == row); // a key keeps its row
            } else {
                CHECK(maker.remove(key) == (map.erase(key) == 1));
            }
        }
        for (uint64_t key : keys) {
            auto known = map.find(key);
            CHECK(rows.find(key) == (known == map.end() ? no_row : known->second));
        }
        CHECK(maker.live() == map.size());
    }
    RowMaker next = memory.maker(); // finds what is there
    CHECK(next.live() == map.size());
    for (auto [key, row] : map) CHECK(next.make(key) == row);
}

void memory_follows_the_keys() {
    constexpr uint32_t most = 250'000;
    Memory memory(most);
    RowMaker maker = memory.maker();
    CHECK(memory.mapping.committed() <= 4096);
    for (uint64_t key = 0; key < most; key++) maker.make(key * 0x9e3779b97f4a7c15);
    double each = double(memory.mapping.committed()) / most;
    for (int round = 0; round < 3; round++) // keys that come and go take nothing more
        for (uint64_t key = 0; key < most; key++) {
            CHECK(maker.remove(key * 0x9e3779b97f4a7c15 + uint64_t(round)));
            maker.make(key * 0x9e3779b97f4a7c15 + uint64_t(round) + 1);
        }
    double afterwards = double(memory.mapping.committed()) / most;
    if (each > 36 || afterwards > 52) std::fprintf(stderr, "%.1f and %.1f bytes per key\n", each, afterwards);
    CHECK(each <= 36 && afterwards <= 52); // with a column of 8; a table of 2^19 slots, then a twin beside it
}

struct Shared {
    std::atomic<uint64_t> done{0}; // keys that stay were made, each after another that went again
    std::atomic<uint64_t> looked{0};
    std::atomic<bool> stop{false};
};

uint64_t staying(uint64_t number) { return number * 0x9e3779b97f4a7c15; }
uint64_t going(uint64_t number) { return number * 0x9e3779b97f4a7c15 + 1; }

[[noreturn]] void make_and_remove(Memory &memory, Shared &shared) {
    RowMaker maker = memory.maker();
    for (uint64_t number = shared.done; number < memory.most_rows - 2; shared.done = ++number) {
        maker.make(going(number));
        Row row = maker.make(staying(number));
        memory.note(row) = staying(number);
        CHECK(maker.remove(going(number)));
    }
    std::_Exit(0);
}

[[noreturn]] void look(const Memory &memory, Shared &shared) {
    HashedRows rows = memory.rows();
    std::mt19937_64 random(9);
    while (!shared.stop) {
        uint64_t done = shared.done;
        if (done == 0) continue;
        uint64_t number = random() % 2 ? random() % done : done - 1 - random() % std::min<uint64_t>(done, 20);
        Row row = rows.find(staying(number));
        CHECK(row != no_row && rows.key(row) == staying(number) && memory.note(row) == staying(number));
        CHECK(rows.find(going(number)) == no_row && rows.find(staying(number) + 2) == no_row);
        shared.looked++;
    }
    std::_Exit(0);
}

template <class Body>
pid_t start(Body &&body) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) body();
    return pid;
}

void whole_while_makers_are_killed(int kills) {
    Memory memory(400'000);
    void *at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Shared &shared = *new (at) Shared;
    {
        RowMaker first = memory.maker();
    }
    pid_t reader = start([&] { look(memory, shared); });
    std::mt19937 random(7);
    for (int round = 0; round < kills; round++) {
        uint64_t before = shared.done;
        pid_t maker = start([&] { make_and_remove(memory, shared); });
        while (shared.done == before && waitpid(maker, nullptr, WNOHANG) == 0) sched_yield();
        usleep(random() % 400);
        CHECK(kill(maker, SIGKILL) == 0 && waitpid(maker, nullptr, 0) == maker);
    }
    shared.stop = true;
    int status;
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
    CHECK(shared.looked > 0);
    RowMaker last = memory.maker();
    CHECK(last.live() >= shared.done && last.live() <= shared.done + 2); // what the last one was at
    for (uint64_t number = 0; number < shared.done; number++) CHECK(last.rows().find(staying(number)) != no_row);
    munmap(at, sizeof(Shared));
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 2);
    whole_while_makers_are_killed(std::atoi(arguments[1]));
    a_slot_with_a_tag_is_found_if_there_is_one<ComparedInWords>();
    a_slot_with_a_tag_is_found_if_there_is_one<Compared>();
    both_ways_answer_alike();
    too_many_keys_are_refused();
    they_follow_a_map();
    memory_follows_the_keys();
    std::puts("ok");
}
