#include "store/kernels.h"

#include "ps.h"
#include "store/formats.h"
#include "store/processors.h"

namespace ps {

namespace {

// Inlined, so that a function for a certain processor gets loops for that processor.
template <class Element>
[[gnu::always_inline]] inline void add_elements(char *value, const char *update, uint32_t length) {
    Element *__restrict to = reinterpret_cast<Element *>(value);
    const Element *__restrict from = reinterpret_cast<const Element *>(update);
    for (uint32_t i = 0; i < length; i++) to[i] += from[i];
}

template <class Format>
[[gnu::always_inline]] inline void add_halves(char *value, const char *update, uint32_t length) {
    uint16_t *__restrict to = reinterpret_cast<uint16_t *>(value);
    const uint16_t *__restrict from = reinterpret_cast<const uint16_t *>(update);
    for (uint32_t i = 0; i < length; i++) to[i] = Format::narrow(Format::widen(to[i]) + Format::widen(from[i]));
}

// An addition as what a push does, and as what merges two deltas.
template <Merge add>
[[gnu::always_inline]] inline void push(char *value, const char *update, uint32_t length, char *, RuleSettings &) {
    add(value, update, length);
}

struct Dtype {
    const char *name;
    uint32_t bytes;
    ForProcessor<Apply> apply;
    ForProcessor<Merge> merge;
};

template <Merge add>
constexpr Dtype row(const char *name, uint32_t bytes) {
    return {name, bytes, for_processors<push<add>>, for_processors<add>};
}

const Dtype dtypes[] = {
    row<add_elements<float>>("float32", 4),  row<add_elements<double>>("float64", 8),
    row<add_halves<Float16>>("float16", 2),  row<add_halves<BFloat16>>("bfloat16", 2),
    row<add_elements<uint32_t>>("int32", 4), row<add_elements<uint64_t>>("int64", 8),
};
constexpr int32_t known = sizeof dtypes / sizeof dtypes[0];

} // namespace

const char *name_of_dtype(int32_t dtype) { return dtypes[dtype].name; }

uint32_t element_bytes(int32_t dtype) { return dtype >= 0 && dtype < known ? dtypes[dtype].bytes : 0; }

Apply add_kernel(int32_t dtype) { return dtypes[dtype].apply.best(); }

Merge merge_kernel(int32_t dtype) { return dtypes[dtype].merge.best(); }

} // namespace ps
