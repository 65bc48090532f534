// The loops over rows of whole memory beside plain ones: every kind of index and element, rows with gaps between them,
// indices that come again, few rows and enough for all threads. Memory ends where the last row does.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../../pyps/wholememory/rows.h"
#include "check.h"

using namespace wm;

namespace {

std::mt19937_64 source(1);

int64_t up_to(int64_t most) { return int64_t(source() % uint64_t(most + 1)); }

// Memory of exactly this size, so that a sanitizer sees a byte behind it.
struct Bytes {
    std::unique_ptr<char[]> first;
    int64_t count;

    explicit Bytes(int64_t count) : first(new char[size_t(count)]), count(count) {}
    Bytes(const Bytes &other) : Bytes(other.count) { std::memcpy(first.get(), other.first.get(), size_t(count)); }
    bool operator==(const Bytes &other) const {
        return std::memcmp(first.get(), other.first.get(), size_t(count)) == 0;
    }
    char *at(int64_t byte) const { return first.get() + byte; }
};

// Small whole numbers, whose sums are the same in any order.
template <class T>
void fill(const Bytes &bytes) {
    for (int64_t at = 0; at + int64_t(sizeof(T)) <= bytes.count; at += int64_t(sizeof(T))) {
        T number = T(up_to(100));
        std::memcpy(bytes.at(at), &number, sizeof number);
    }
}

// Indices of one width over the same numbers.
struct Chosen {
    std::vector<int64_t> wide;
    std::vector<int32_t> narrow;

    Chosen(int64_t count, int64_t rows) {
        for (int64_t i = 0; i < count; i++) wide.push_back(up_to(rows - 1));
        narrow.assign(wide.begin(), wide.end());
    }
    Indices as(bool is_wide) const {
        const void *first = is_wide ? static_cast<const void *>(wide.data()) : narrow.data();
        return {first, int64_t(wide.size()), is_wide};
    }
};

template <class T>
void rows_are_what_plain_loops_make(Element element, int64_t rows, int64_t length, int64_t gap, int64_t count,
                                    int threads, bool wide) {
    const int64_t row_bytes = length * int64_t(sizeof(T)), stride = row_bytes + gap * int64_t(sizeof(T));
    Bytes memory((rows - 1) * stride + row_bytes), given(count * row_bytes), out(count * row_bytes);
    fill<T>(memory);
    fill<T>(given);
    const Chosen chosen(count, rows);
    const Matrix matrix{memory.at(0), stride, row_bytes};

    gather(matrix, chosen.as(wide), out.at(0), threads);
    for (int64_t i = 0; i < count; i++)
        CHECK(std::memcmp(out.at(i * row_bytes), memory.at(chosen.wide[size_t(i)] * stride), size_t(row_bytes)) == 0);

    Bytes expected(memory);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < length; k++) {
            T sum, part;
            char *place = expected.at(chosen.wide[size_t(i)] * stride + k * int64_t(sizeof(T)));
            std::memcpy(&sum, place, sizeof sum);
            std::memcpy(&part, given.at(i * row_bytes + k * int64_t(sizeof(T))), sizeof part);
            sum = T(sum + part);
            std::memcpy(place, &sum, sizeof sum);
        }
    scatter_add(matrix, chosen.as(wide), given.at(0), element, threads);
    CHECK(memory == expected);

    for (int64_t i = 0; i < count; i++) // the last one stays
        std::memcpy(expected.at(chosen.wide[size_t(i)] * stride), given.at(i * row_bytes), size_t(row_bytes));
    scatter(matrix, chosen.as(wide), given.at(0), threads);
    CHECK(memory == expected);
}

void the_first_index_outside_is_found(int64_t count, int threads) {
    const int64_t rows = 1000;
    for (bool wide : {false, true})
        for (int64_t bad : {int64_t(-1), rows, int64_t(INT32_MIN), int64_t(INT32_MAX)}) {
            Chosen chosen(count, rows);
            CHECK(first_outside(chosen.as(wide), rows, threads) == -1);
            if (count == 0) continue;
            const int64_t later = up_to(count - 1), first = up_to(later);
            for (int64_t at : {later, first}) {
                chosen.wide[size_t(at)] = bad;
                chosen.narrow[size_t(at)] = int32_t(bad);
            }
            CHECK(first_outside(chosen.as(wide), rows, threads) == first);
        }
}

} // namespace

int main() {
    for (int threads : {1, 2, 5})
        for (int64_t count : {0, 1, 7, 3000})
            for (bool wide : {false, true}) {
                const int64_t rows = 1 + up_to(300), gap = up_to(3);
                rows_are_what_plain_loops_make<float>(Element::float32, rows, 128, gap, count, threads, wide);
                rows_are_what_plain_loops_make<double>(Element::float64, rows, 33, gap, count, threads, wide);
                rows_are_what_plain_loops_make<uint32_t>(Element::int32, rows, 1, gap, count, threads, wide);
                rows_are_what_plain_loops_make<uint64_t>(Element::int64, rows, 600, gap, count, threads, wide);
            }
    for (int threads : {1, 2, 5})
        for (int64_t count : {0, 1, 1000, 200000}) the_first_index_outside_is_found(count, threads);
    std::puts("ok");
}
