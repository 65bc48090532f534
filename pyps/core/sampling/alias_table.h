// Drawing from any discrete distribution in constant time (A. Walker 1977; built as M. Vose, "A Linear Algorithm for
// Generating Random Numbers with a Given Distribution", IEEE TSE 17, 1991).
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/random.h"

namespace ps {

// One of n, each chosen equally often: it stands for its own index with probability `keep`, else for `other`. An index
// of weight zero, and no other, has a `keep` of zero.
struct AliasCell {
    float keep;
    uint32_t other;
};

// The weights are finite, not negative and not all zero. Only a cell's own share is rounded, to a float's 24 bits, up
// or down by turns; what is left of the cell goes to `other` as a double.
void build_alias_table(const double *weights, int64_t n, AliasCell *cells);

// The probabilities of n cells, times n.
std::vector<double> alias_weights(const AliasCell *cells, int64_t n);

inline int64_t draw_from(const AliasCell &cell, int64_t index, Random &random) {
    return random.unit() < cell.keep ? index : int64_t(cell.other);
}

} // namespace ps
