// Drawing from any discrete distribution in constant time (A. Walker 1977; built as M. Vose, "A Linear Algorithm for
// Generating Random Numbers with a Given Distribution", IEEE TSE 17, 1991).
#pragma once

#include <cstdint>
#include <vector>

#include "random.h"

namespace ps {

// One of n cells, each of which is chosen equally often. It stands for its own index with probability `keep`, else for
// `other`. Only indices of weight zero have a `keep` of zero.
struct AliasCell {
    float keep;
    uint32_t other;
};

// The weights must be finite, not negative and not all zero. A cell's `keep` is rounded to the 24 bits of a float, up
// or down in turn; the rest of the cell is taken from `other` without rounding.
void build_alias_table(const double *weights, int64_t n, AliasCell *cells);

// The probabilities of the n indices, times n.
std::vector<double> alias_weights(const AliasCell *cells, int64_t n);

inline int64_t draw_from(const AliasCell &cell, int64_t index, Random &random) {
    return random.unit() < cell.keep ? index : int64_t(cell.other);
}

} // namespace ps
