#include "rows.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace wm {

namespace {

constexpr int64_t ahead = 6; // how many rows ahead memory is prefetched
constexpr int64_t line = 64;
constexpr int64_t worth_a_thread = 256 << 10; // bytes
constexpr int64_t most_lines = 32; // lines to prefetch of a row: in longer rows the hardware recognizes the pattern

int threads_for(int64_t bytes, int threads) {
    return int(std::clamp<int64_t>(bytes / worth_a_thread, 1, std::max(threads, 1)));
}

// Calls body(number) for all numbers. If the system refuses threads, fewer are used.
template <class Body>
void in_threads(int count, Body body) {
    std::vector<std::thread> others;
    int next = 1;
    try {
        others.reserve(size_t(count));
        for (; next < count; next++) others.emplace_back(body, next);
    } catch (const std::exception &) {
        for (int number = next; number < count; number++) body(number);
    }
    body(0);
    for (std::thread &thread : others) thread.join();
}

template <int write>
void prefetch(const char *row, int64_t bytes) {
    for (int64_t i = 0; i < std::min(bytes, most_lines * line); i += line) __builtin_prefetch(row + i, write);
}

// Calls step(i, place) for the rows that belong to a thread. A row belongs to one thread, so two threads never write
// the same row.
template <class Step>
void for_own_rows(const Matrix &matrix, Indices indices, int thread, int threads, Step step) {
    constexpr int64_t block = 64; // neighbouring rows, which may share a cache line, belong to the same thread
    for (int64_t i = 0; i < indices.count; i++) {
        if (threads == 1 && i + ahead < indices.count)
            prefetch<1>(matrix.first + indices[i + ahead] * matrix.stride, matrix.row_bytes);
        int64_t row = indices[i];
        if (threads > 1 && row / block % threads != thread) continue;
        step(i, matrix.first + row * matrix.stride);
    }
}

template <class T>
void add(char *place, const char *row, int64_t bytes) {
    auto *to = reinterpret_cast<T *>(place);
    auto *from = reinterpret_cast<const T *>(row);
    for (int64_t k = 0; k < bytes / int64_t(sizeof(T)); k++) to[k] += from[k];
}

template <class T>
void add_all(Matrix matrix, Indices indices, const char *rows, int threads) {
    in_threads(threads, [=](int thread) {
        for_own_rows(matrix, indices, thread, threads,
                     [=](int64_t i, char *place) { add<T>(place, rows + i * matrix.row_bytes, matrix.row_bytes); });
    });
}

} // namespace

int64_t first_outside(Indices indices, int64_t rows, int threads) noexcept {
    threads = threads_for(indices.count * 8, threads);
    std::atomic<int64_t> found{indices.count};
    in_threads(threads, [&](int thread) {
        int64_t begin = indices.count * thread / threads, end = indices.count * (thread + 1) / threads;
        bool outside = false; // a loop without an early exit becomes vector code
        for (int64_t i = begin; i < end; i++) outside |= uint64_t(indices[i]) >= uint64_t(rows);
        if (!outside) return;
        for (int64_t i = begin; i < end; i++)
            if (uint64_t(indices[i]) >= uint64_t(rows)) {
                int64_t former = found;
                while (i < former && !found.compare_exchange_weak(former, i)) {
                }
                return;
            }
    });
    return found == indices.count ? -1 : found.load();
}

void gather(Matrix matrix, Indices indices, char *out, int threads) noexcept {
    threads = threads_for(indices.count * matrix.row_bytes, threads);
    in_threads(threads, [=](int thread) {
        int64_t begin = indices.count * thread / threads, end = indices.count * (thread + 1) / threads;
        for (int64_t i = begin; i < std::min(begin + ahead, end); i++)
            prefetch<0>(matrix.first + indices[i] * matrix.stride, matrix.row_bytes);
        for (int64_t i = begin; i < end; i++) {
            if (i + ahead < end) prefetch<0>(matrix.first + indices[i + ahead] * matrix.stride, matrix.row_bytes);
            std::memcpy(out + i * matrix.row_bytes, matrix.first + indices[i] * matrix.stride,
                        size_t(matrix.row_bytes));
        }
    });
}

void scatter(Matrix matrix, Indices indices, const char *rows, int threads) noexcept {
    threads = threads_for(indices.count * matrix.row_bytes, threads);
    in_threads(threads, [=](int thread) {
        for_own_rows(matrix, indices, thread, threads, [=](int64_t i, char *place) {
            std::memcpy(place, rows + i * matrix.row_bytes, size_t(matrix.row_bytes));
        });
    });
}

void scatter_add(Matrix matrix, Indices indices, const char *rows, Element element, int threads) noexcept {
    threads = threads_for(indices.count * matrix.row_bytes, threads);
    switch (element) {
    case Element::float32: return add_all<float>(matrix, indices, rows, threads);
    case Element::float64: return add_all<double>(matrix, indices, rows, threads);
    case Element::int32: return add_all<uint32_t>(matrix, indices, rows, threads); // wraps around, as in torch
    case Element::int64: return add_all<uint64_t>(matrix, indices, rows, threads);
    }
}

} // namespace wm
