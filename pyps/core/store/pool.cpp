#include "store/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "counting.h"
#include "errors.h"

namespace ps {

namespace {
constexpr uint32_t most_compared = 64; // slabs among which the emptiest is looked for
} // namespace

Pool::Pool(Segment &segment, std::atomic<uint64_t> &free_bytes, uint64_t base, uint64_t slot_bytes, uint64_t slots,
           uint32_t row_at)
    : segment_(segment), free_bytes_(&free_bytes), base_(base), slot_bytes_(slot_bytes), slots_(slots), row_at_(row_at),
      slots_per_slab_(uint32_t(std::min(std::max<uint64_t>(1, segment.header().slab_bytes_each / slot_bytes), slots))) {
}

// Slabs that will be full are committed all at once.
void Pool::expect(uint64_t values) {
    auto whole = uint32_t(values / slots_per_slab_);
    segment_.mapping().commit_large(base_, uint64_t(whole) * slots_per_slab_ * slot_bytes_);
    slabs_.resize(whole);
    for (uint32_t number = whole; number-- > 0;) {
        slabs_[number].in_open = true;
        open_.push_back(number);
        note_committed(number);
    }
}

uint32_t Pool::allocate(const char *from, uint64_t bytes) {
    uint32_t slab_number;
    Slab &slab = with_room(&slab_number);
    uint32_t first = slab_number * slots_per_slab_, slot = slab.first_free;
    char *value = at(first + (slot == none ? slab.touched : slot));
    if (slot == none) {
        slot = slab.touched++;
    } else {
        std::memcpy(&slab.first_free, value, sizeof slab.first_free);
        if (slab.first_free != none) __builtin_prefetch(at(first + slab.first_free), 1); // the slot for the next value
    }
    if (from)
        std::memcpy(value, from, bytes);
    else if (slab.recycled)
        std::memset(value, 0, slot_bytes_); // memory fresh from the system is zero
    live_++;
    add_to(*free_bytes_, -int64_t(slot_bytes_));
    if (++slab.live == capacity(slab_number)) {
        slab.in_open = false;
        open_.pop_back();
    }
    return first + slot;
}

// The slab for the next value, with its memory committed. It is open_.back().
Pool::Slab &Pool::with_room(uint32_t *slab_number) {
    skip_closed_and_vacant();
    if (open_.empty()) {
        if (vacant_.empty() &&
            slabs_.size() * uint64_t(slots_per_slab_) >= slots_) // several channels may want the last
            fail(PS_ENOMEM, Where{-1, int64_t(slots_), int64_t(slots_)}, "all %llu places for values are taken",
                 static_cast<unsigned long long>(slots_));
        if (vacant_.empty()) add_slab();
        open_.push_back(vacant_.back());
        vacant_.pop_back();
        slabs_[open_.back()].in_open = true;
    }
    *slab_number = open_.back();
    Slab &slab = slabs_[*slab_number];
    if (*slab_number == kept_) kept_ = none;
    if (!slab.committed) {
        commit(begin_of(*slab_number), bytes_of(*slab_number));
        note_committed(*slab_number);
        if (!row_at_ && !slab.recycled && *slab_number == slabs_.size() - 1) make_large(*slab_number);
    }
    return slab;
}

// Room for its number is made here, so that no value has to wait for memory when it goes.
void Pool::add_slab() {
    const size_t count = slabs_.size() + 1;
    for (std::vector<uint32_t> *numbers : {&open_, &vacant_})
        if (numbers->capacity() < count) numbers->reserve(2 * count);
    slabs_.emplace_back();
    vacant_.push_back(uint32_t(count - 1));
}

// So that memory that was given back is not taken again while there are free slots. What is closed comes back with
// open(), or when one of its values goes.
void Pool::skip_closed_and_vacant() {
    while (!open_.empty()) {
        Slab &slab = slabs_[open_.back()];
        if (slab.committed && open_.back() != closed_) return;
        if (!slab.committed) vacant_.push_back(open_.back());
        slab.in_open = false;
        open_.pop_back();
    }
}

// Makes the large pages that are complete with this last slab. Not for slabs that go and come again, which would be
// copied each time.
void Pool::make_large(uint32_t slab_number) {
    const uint64_t slab_bytes = uint64_t(slots_per_slab_) * slot_bytes_,
                   end = begin_of(slab_number) + bytes_of(slab_number);
    uint64_t page = round_up(base_, Mapping::large_page);
    page = std::max(page, round_down(begin_of(slab_number), Mapping::large_page));
    for (; page + Mapping::large_page <= end; page += Mapping::large_page) {
        auto first = slabs_.begin() + ptrdiff_t((page - base_) / slab_bytes);
        bool is_whole = std::all_of(first, slabs_.begin() + slab_number,
                                    [](const Slab &slab) { return slab.committed; });
        if (is_whole) segment_.mapping().make_large(page);
    }
}

// Keys that come from other nodes were admitted before they were asked for.
void Pool::commit(uint64_t offset, uint64_t bytes) {
    if (segment_.header().connected.load(std::memory_order_relaxed))
        segment_.mapping().commit_admitted(offset, bytes);
    else
        segment_.mapping().commit(offset, bytes);
}

void Pool::note_committed(uint32_t slab_number) {
    slabs_[slab_number].committed = true;
    add_to(segment_.header().slab_bytes, int64_t(bytes_of(slab_number)));
    add_to(*free_bytes_, int64_t(bytes_of(slab_number)));
}

void Pool::release(uint32_t index) {
    uint32_t slab_number = index / slots_per_slab_, slot = index % slots_per_slab_;
    Slab &slab = slabs_[slab_number];
    std::memcpy(at(index), &slab.first_free, sizeof slab.first_free);
    slab.first_free = slot;
    slab.recycled = true;
    if (row_at_) reinterpret_cast<std::atomic<uint32_t> *>(at(index) + row_at_)->store(0, std::memory_order_relaxed);
    if (!slab.in_open) {
        slab.in_open = true;
        open_.push_back(slab_number);
    }
    live_--;
    add_to(*free_bytes_, int64_t(slot_bytes_));
    if (--slab.live == 0 && slab_number != closed_) empty(slab_number);
}

// A slab's last value has gone.
void Pool::empty(uint32_t slab_number) {
    if (live_ > 0 && kept_ == none) {
        kept_ = slab_number;
        return;
    }
    give_back(slab_number);
    if (live_ > 0 || kept_ == none) return;
    give_back(kept_);
    kept_ = none;
}

void Pool::give_back(uint32_t slab_number) {
    Slab &slab = slabs_[slab_number];
    uint64_t bytes = bytes_of(slab_number);
    discard(slab_number);
    add_to(segment_.header().slab_bytes, -int64_t(bytes));
    add_to(*free_bytes_, -int64_t(bytes));
    slab.committed = false;
    slab.touched = 0;
    slab.first_free = none;
    if (!slab.in_open) vacant_.push_back(slab_number);
}

bool Pool::give_back_kept() {
    if (kept_ == none) return false;
    give_back(std::exchange(kept_, none));
    return true;
}

Pool::Slots Pool::close() {
    const auto count = uint32_t(slabs_.size());
    if (closed_ != none || count == 0 || *free_bytes_ < slots_per_slab_ * slot_bytes_) return {0, 0};
    uint32_t emptiest = none;
    for (uint32_t looked = 0, number = looked_at_; looked < count && looked < most_compared; looked++) {
        number = (looked_at_ + looked) % count;
        const Slab &slab = slabs_[number];
        if (slab.live > 0 && (emptiest == none || slab.live < slabs_[emptiest].live)) emptiest = number;
    }
    looked_at_ = (looked_at_ + most_compared) % count;
    if (emptiest == none) return {0, 0};
    closed_ = emptiest;
    return {emptiest * slots_per_slab_, slabs_[emptiest].touched};
}

bool Pool::has_room_for_closed() const {
    const Slab &slab = slabs_[closed_];
    return *free_bytes_ > uint64_t(capacity(closed_) - slab.live) * slot_bytes_;
}

bool Pool::open() {
    const uint32_t number = std::exchange(closed_, none);
    Slab &slab = slabs_[number];
    if (slab.live == 0) {
        give_back(number);
        return true;
    }
    if (!slab.in_open && slab.live < capacity(number)) {
        slab.in_open = true;
        open_.push_back(number);
    }
    return false;
}

// The pages at its ends as well, if no memory of the slabs beside it is in use.
void Pool::discard(uint32_t slab_number) {
    uint64_t begin = begin_of(slab_number), end = begin + bytes_of(slab_number);
    const bool is_first = slab_number == 0, is_last = slab_number + 1 == slabs_.size();
    if (!is_first && !slabs_[slab_number - 1].committed) begin = round_down(begin, Mapping::page);
    if (is_last || !slabs_[slab_number + 1].committed) end = round_up(end, Mapping::page);
    segment_.mapping().discard(begin, end - begin);
}

// Slots of a slab; the last slab ends with the region.
uint32_t Pool::capacity(uint32_t slab_number) const {
    uint64_t before = uint64_t(slab_number) * slots_per_slab_;
    return uint32_t(std::min<uint64_t>(slots_per_slab_, slots_ - before));
}

uint64_t Pool::begin_of(uint32_t slab_number) const {
    return base_ + uint64_t(slab_number) * slots_per_slab_ * slot_bytes_;
}

uint64_t Pool::bytes_of(uint32_t slab_number) const { return uint64_t(capacity(slab_number)) * slot_bytes_; }

char *Pool::at(uint32_t index) const { return segment_.mapping().at(base_ + uint64_t(index) * slot_bytes_); }

} // namespace ps
