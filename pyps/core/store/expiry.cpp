#include "store/expiry.h"

#include <algorithm>
#include <utility>

#include "counting.h"
#include "segment/process.h"

namespace ps {

namespace {

constexpr double ticks_per_age = 100, passes_per_age = 50;
constexpr double shortest_rest = 0.001, longest_turn = 0.0002; // seconds
constexpr uint64_t rows_at_once = 4096; // in a turn, if there is time for more turns
// A row that is looked at counts as one, a key that goes as some: so many between two looks at the clock.
constexpr uint64_t work_per_look = 1024, work_per_key = 64;
constexpr uint32_t oldest = 128; // ticks: more than ticks_per_age
constexpr uint32_t most_ticks_per_pass = 100; // together less than 256

} // namespace

Expiry::Expiry(Segment &segment, uint32_t channel, LetGo let_go)
    : segment_(segment), at_home_(segment, channel), channel_(channel), let_go_(std::move(let_go)) {}

double Expiry::tick_seconds() const { return segment_.ages().most_age() / ticks_per_age; }

double Expiry::due() const {
    if (channel_ > 0) return portion_due_;
    return std::min(portion_due_, segment_.ages().begun() + tick_seconds());
}

void Expiry::take_turn(double now) {
    if (channel_ == 0) let_tick_pass(now);
    if (now < portion_due_) return;
    if (next_ == portion_end_) begin_portion();
    const uint32_t too_many = segment_.ages().too_many_ticks(now);
    uint64_t work = 0;
    while (next_ < portion_end_) {
        work += look_at(next_++, too_many);
        if (work < work_per_look) continue;
        work = 0;
        if (monotonic_seconds() < now + longest_turn) continue;
        portion_due_ = now + 2 * longest_turn; // so that workers of a busy host get its processor
        return;
    }
    portion_due_ = now + rest_;
}

// Rows that are made during a pass wait for the next one: they are young.
void Expiry::begin_portion() {
    if (next_ == pass_end_) {
        segment_.channel(channel_).swept.store(std::exchange(pass_began_, segment_.ages().ticks()));
        next_ = 0;
        pass_end_ = segment_.made_rows();
    }
    const double pass = segment_.ages().most_age() / passes_per_age; // seconds
    const auto most = uint64_t(std::max(1.0, pass / shortest_rest));
    const uint64_t portions = std::clamp<uint64_t>(pass_end_ / rows_at_once, 1, most);
    portion_end_ = std::min(pass_end_, next_ + (pass_end_ + portions - 1) / portions);
    rest_ = pass / double(portions);
}

// Returns how much work it was.
uint64_t Expiry::look_at(uint64_t index, uint32_t too_many) {
    const Row row{index * HashedRows::row_words};
    if (segment_.ages().ticks_since_use(row) < too_many) return 1;
    const Key key = at_home_.at(row);
    if (key == no_key) return 1;
    if (let_go_(key, too_many))
        count_in(segment_.header().keys_expired, 1);
    else
        keep(row);
    return work_per_key;
}

// A worker may use the row at the same time: then that counts.
void Expiry::keep(Row row) {
    const Ages &ages = segment_.ages();
    Ages::Mark noted = ages.mark(row).load(std::memory_order_relaxed);
    const uint32_t now = ages.ticks();
    if (Ages::Mark(now - noted) > oldest) ages.mark(row).compare_exchange_strong(noted, Ages::Mark(now - oldest));
}

void Expiry::let_tick_pass(double now) {
    const Ages &ages = segment_.ages();
    if (now < ages.begun() + tick_seconds()) return;
    for (uint32_t channel = 0; channel < segment_.header().num_channels; channel++)
        if (ages.ticks() - segment_.channel(channel).swept.load() >= most_ticks_per_pass) return;
    ages.pass(now);
}

} // namespace ps
