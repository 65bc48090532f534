// Loops over rows of a matrix, chosen by indices. No Python here; the caller has checked the indices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wm {

enum class Element { float32, float64, int32, int64 };

struct Matrix {
    char *first; // row 0
    int64_t stride; // bytes from one row to the next
    int64_t row_bytes; // bytes of a row, which lie one after another
};

struct Indices {
    const void *first;
    int64_t count;
    bool wide; // 64 bits each, else 32

    int64_t operator[](int64_t i) const {
        return wide ? static_cast<const int64_t *>(first)[i] : static_cast<const int32_t *>(first)[i];
    }
};

// The position of the first index that is not in [0, rows), or -1.
int64_t first_outside(Indices indices, int64_t rows, int threads) noexcept;

// Row i of `out` becomes the row of `matrix` that index i names.
void gather(Matrix matrix, Indices indices, char *out, int threads) noexcept;

// Row i of `rows` is copied to the row of `matrix` that index i names; of several rows for one place the last one
// stays.
void scatter(Matrix matrix, Indices indices, const char *rows, int threads) noexcept;

// The same, but rows are added. Within one call no addition is lost; with other processes at the same time some may be.
void scatter_add(Matrix matrix, Indices indices, const char *rows, Element element, int threads) noexcept;

} // namespace wm
