#include "store/victims.h"

#include <algorithm>
#include <array>

#include "segment/process.h"

namespace ps {

namespace {
constexpr double barren_for = 0.1; // seconds without another look, after all keys were looked at in vain
} // namespace

Victims::Victims(const Segment &segment, uint32_t channel) : segment_(segment), at_home_(segment, channel), hands_(1) {}

Key Victims::next() {
    if (monotonic_seconds() < barren_until_) return no_key;
    for (;;) {
        while (!is_used_up()) {
            const Listed listed = sorted_[at_++];
            const Row row = row_at(listed.index);
            hands_[number_] = listed.index;
            const Key key = segment_.key(row);
            if (key != no_key && segment_.uses().mark(row).load(std::memory_order_relaxed) == listed.mark) return key;
        }
        if (in_vain_ == hands_.size()) break;
        take_sample();
    }
    in_vain_ = 0;
    barren_until_ = monotonic_seconds() + barren_for;
    return no_key;
}

void Victims::note_gone() {
    gone_++;
    in_vain_ = 0;
}

void Victims::take_sample() {
    const uint64_t blocks = (segment_.made_rows() + block_rows - 1) / block_rows;
    if (++number_ >= hands_.size()) {
        number_ = 0;
        passes_++;
        hands_.resize(std::max<uint64_t>(1, (blocks + most_blocks - 1) / most_blocks));
    }
    in_vain_++;
    found_.clear();
    for (uint64_t block = number_; block < blocks; block += hands_.size()) look_at(block);
    const auto after = std::upper_bound(found_.begin(), found_.end(), hands_[number_],
                                        [](uint32_t hand, const Listed &listed) { return hand < listed.index; });
    std::rotate(found_.begin(), after, found_.end());
    sort();
}

void Victims::look_at(uint64_t block) {
    const Uses &uses = segment_.uses();
    const bool decays = uses.are_counted() && passes_ % passes_per_decay == 0;
    const uint64_t end = std::min((block + 1) * block_rows, segment_.made_rows());
    for (uint64_t index = block * block_rows; index < end; index++) {
        const Row row = row_at(index);
        if (at_home_.at(row) == no_key) continue;
        std::atomic<Uses::Mark> &mark = uses.mark(row);
        Uses::Mark now = mark.load(std::memory_order_relaxed);
        if (decays && now > 0) mark.store(--now, std::memory_order_relaxed);
        found_.push_back({uint32_t(index), now});
    }
}

// By counting, as there are few ranks; those of equal ranks keep their order.
void Victims::sort() {
    const Uses &uses = segment_.uses();
    const Uses::Mark tick = uses.tick();
    std::array<size_t, UINT8_MAX + 2> begin{}; // in sorted_, by UINT8_MAX - rank
    auto place_of = [&](const Listed &listed) { return size_t(UINT8_MAX - uses.rank(listed.mark, tick)); };
    for (const Listed &listed : found_) begin[place_of(listed) + 1]++;
    for (size_t place = 1; place < begin.size(); place++) begin[place] += begin[place - 1];
    sorted_.resize(found_.size());
    for (const Listed &listed : found_) sorted_[begin[place_of(listed)]++] = listed;
    at_ = gone_ = 0;
}

} // namespace ps
