#include "worker/gradients.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "errors.h"
#include "store/finite.h"
#include "store/optimizers/element.h"

namespace ps {

namespace {

uint64_t place_of(int64_t key, int bits) { return uint64_t(key) * 0x9e3779b97f4a7c15 >> (64 - bits); }

// Names the first key whose gradient, or sum of gradients, is not finite.
void require_finite(const Segment &segment, const ps_request &once, const ps_request &request) {
    const int32_t dtype = segment.header().dtype;
    const char *gradient = static_cast<const char *>(once.values);
    if (are_finite(dtype, gradient, uint64_t(once.num_values))) return;
    for (int64_t i = 0; i < once.num_keys; i++) {
        const int64_t key = once.keys[i];
        if (!segment.key_space().has(uint64_t(key))) break;
        const LengthClass &c = segment.class_of(uint64_t(key));
        if (!are_finite(dtype, gradient, c.length)) {
            const int64_t position = std::find(request.keys, request.keys + request.num_keys, key) - request.keys;
            fail(PS_EINVAL, Where{position, key, 0},
                 "the gradient of key %lld at position %lld has a NaN or an infinite number; nothing was pushed",
                 static_cast<long long>(key), static_cast<long long>(position));
        }
        gradient += c.value_bytes;
    }
    fail(PS_EINVAL, Where{}, "the gradients were changed during the call");
}

} // namespace

// Most batches have each key once, so this does no more than is necessary to know that.
bool Gradients::has_repeats(const int64_t *keys, int64_t num_keys) {
    if (std::adjacent_find(keys, keys + num_keys, std::greater_equal<>()) == keys + num_keys) return false; // in order
    const int bits = clear_table(num_keys);
    for (int64_t i = 0; i < num_keys; i++) {
        uint64_t place = place_of(keys[i], bits);
        for (; table_[place]; place = next(place))
            if (keys[table_[place] - 1] == keys[i]) return true;
        table_[place] = uint32_t(i + 1);
    }
    return false;
}

// The table has at least four times as many places as there are keys. Returns its size's logarithm.
int Gradients::clear_table(int64_t num_keys) {
    int bits = 2;
    while (int64_t(1) << bits < 4 * num_keys) bits++;
    table_.assign(size_t(1) << bits, 0);
    return bits;
}

// Looks at a copy of the keys, which the caller may change meanwhile.
void Gradients::find_repeats(const int64_t *keys, int64_t num_keys) {
    const int bits = clear_table(num_keys);
    of_.resize(size_t(num_keys));
    keys_.clear();
    for (int64_t i = 0; i < num_keys; i++) {
        const int64_t key = keys[i];
        uint64_t place = place_of(key, bits);
        while (table_[place] && keys_[table_[place] - 1] != key) place = next(place);
        if (!table_[place]) {
            keys_.push_back(key);
            table_[place] = uint32_t(keys_.size());
        }
        of_[size_t(i)] = table_[place] - 1;
    }
}

void Gradients::sum(const Segment &segment, const ps_request &request) {
    const Merge merge = segment.rule().merge[segment.header().dtype];
    const KeySpace space = segment.key_space();
    at_.resize(keys_.size());
    uint64_t bytes = 0;
    for (size_t i = 0; i < keys_.size(); i++) {
        if (!space.has(uint64_t(keys_[i]))) fail(PS_EINVAL, Where{}, "the keys were changed during the call");
        at_[i] = bytes;
        bytes += segment.value_bytes(uint64_t(keys_[i]));
    }
    sums_.resize(bytes);
    const char *from = static_cast<const char *>(request.values);
    const char *const end = from + uint64_t(request.num_values) * segment.header().element_bytes;
    uint32_t next = 0; // the position in keys_ of the next key that has not come before
    for (uint32_t position : of_) {
        const LengthClass &c = segment.class_of(uint64_t(keys_[position]));
        if (c.value_bytes > uint64_t(end - from)) fail(PS_EINVAL, Where{}, "the keys were changed during the call");
        char *to = sums_.data() + at_[position];
        if (position == next) {
            std::memcpy(to, from, c.value_bytes);
            next++;
        } else {
            merge(to, from, c.length);
        }
        from += c.value_bytes;
    }
}

ps_request Gradients::collect(const Segment &segment, const ps_request &request) {
    ps_request once = request;
    if (request.num_keys > 1 && has_repeats(request.keys, request.num_keys)) {
        find_repeats(request.keys, request.num_keys);
        sum(segment, request);
        once.keys = keys_.data();
        once.num_keys = int64_t(keys_.size());
        once.values = sums_.data();
        once.num_values = int64_t(sums_.size() / segment.header().element_bytes);
        once.done = std::min(request.done, once.num_keys);
    }
    if (segment.header().settings[refuse_nan].load(std::memory_order_relaxed) != 0)
        require_finite(segment, once, request);
    return once;
}

} // namespace ps
