// What must be in the values that are read: which worker pushed what when, and which keys were deleted when. Each push
// adds one bit of its own, so a value tells which pushes it has.
#pragma once

#include <cstdint>
#include <vector>

#include "../require.h"
#include "protocol/messages.h"

namespace ps::deletions {

class Account {
public:
    static constexpr uint64_t never = UINT64_MAX;
    static constexpr size_t most_pushes = 60; // of a key, until it starts anew

    struct Event {
        uint64_t worker, begin, end;
        bool was_dropped = false; // of a push, as its key was not used often enough
    };

    explicit Account(uint64_t num_keys) : pushes_(num_keys), deletions_(num_keys) {}

    uint64_t now() { return ++time_; }
    bool can_push(Key key) const { return pushes_[key].size() < most_pushes; }
    static int64_t bit(size_t push) { return int64_t(1) << push; }
    static size_t push_of(int64_t bit) { return size_t(__builtin_ctzll(uint64_t(bit))); }

    size_t begin_push(Key key, uint64_t worker) {
        pushes_[key].push_back({worker, now(), never});
        return pushes_[key].size() - 1;
    }
    void end_push(Key key, size_t push) { pushes_[key][push].end = now(); }
    void drop(Key key, size_t push) { pushes_[key][push].was_dropped = true; }
    size_t begin_deletion(Key key, uint64_t worker) {
        deletions_[key].push_back({worker, now(), never});
        return deletions_[key].size() - 1;
    }
    void let_go(Key key) { // in one step
        const uint64_t time = now();
        deletions_[key].push_back({0, time, time});
    }
    void end_deletion(Key key, size_t deletion) { deletions_[key][deletion].end = now(); }

    // A worker has read a value between `begin` and now. It has nothing that was deleted before, and all that this
    // worker pushed before and that was not deleted.
    void check_read(Key key, uint64_t worker, uint64_t begin, int64_t value) {
        require_known(key, value);
        const std::vector<Event> &pushes = pushes_[key];
        for (size_t i = 0; i < pushes.size(); i++) {
            if (value & bit(i))
                REQUIRE(!pushes[i].was_dropped && !is_gone(key, pushes[i], begin));
            else
                REQUIRE(pushes[i].worker != worker || pushes[i].end > begin || may_be_gone(key, pushes[i]));
        }
    }

    // The home was asked between `begin` and now, and says that the key does not exist.
    void check_absence(Key key, uint64_t begin) {
        for (const Event &push : pushes_[key]) REQUIRE(push.end > begin || may_be_gone(key, push));
    }

    // Nothing is on its way.
    void check_final(Key key, int64_t value) {
        require_known(key, value);
        const std::vector<Event> &pushes = pushes_[key];
        for (size_t i = 0; i < pushes.size(); i++) {
            if (value & bit(i))
                REQUIRE(!pushes[i].was_dropped && !is_gone(key, pushes[i], now()));
            else
                REQUIRE(may_be_gone(key, pushes[i]));
        }
    }

    // All keys are gone, and nothing is on its way.
    void start_anew() {
        for (auto &pushes : pushes_) pushes.clear();
        for (auto &deletions : deletions_) deletions.clear();
    }

private:
    void require_known(Key key, int64_t value) const { REQUIRE(value >= 0 && value < bit(pushes_[key].size())); }
    bool is_gone(Key key, const Event &push, uint64_t before) const {
        for (const Event &deletion : deletions_[key])
            if (push.end < deletion.begin && deletion.end < before) return true;
        return false;
    }
    bool may_be_gone(Key key, const Event &push) const {
        if (push.was_dropped) return true;
        for (const Event &deletion : deletions_[key])
            if (deletion.end > push.begin) return true;
        return false;
    }

    uint64_t time_ = 0;
    std::vector<std::vector<Event>> pushes_, deletions_; // by key
};

} // namespace ps::deletions
