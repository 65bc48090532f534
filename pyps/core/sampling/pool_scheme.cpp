// pool: samples come from pools of keys that were drawn and made local before, and each draw is used several times (the
// sample re-use of A. Renz-Wieland et al., "NuPS: A Parameter Server for Machine Learning with Non-Uniform Parameter
// Access", SIGMOD 2022).
//
// A worker has two pools of pool_size independent draws. It takes their keys in passes, one pass of the one pool, then
// one of the other; each pass has a random order of its own. After pool_uses passes a pool is drawn anew. It is needed
// again only after a pass of the other pool, and meanwhile an intent brings its keys here.
//
// A random order of independent draws is again a sequence of independent draws. No sample takes two passes of one pool
// (that pool is drawn anew instead), so each sample by itself has exactly the distribution of a naive one, with and
// without replacement. But samples depend on each other as long as they come from the same pools, so counts over few
// pools vary up to pool_uses times as much.
#include <algorithm>

#include "sampling/scheme.h"

namespace ps {

namespace {

struct Pool {
    std::vector<int64_t> keys;
    size_t at = 0; // where the pass is
    uint32_t passes_left = 0; // passes until it is drawn anew, this one included
    uint64_t last_sample = 0; // number of the last sample that took keys of it
    int64_t from = 0, until = 0; // clocks for which there is an intent
};

class Pools : public Scheme {
public:
    Pools(Draws &draws, SamplingPort &port) : Scheme(draws, port) {
        renew(&pools_[0], draws.area().pool_uses);
        renew(&pools_[1], (draws.area().pool_uses + 1) / 2); // so that the two do not end together
    }

    void prepare(Sample *sample, int64_t n) override {
        const bool distinct = !draws_.area().with_replacement;
        number_++;
        sample->keys.reserve(size_t(n));
        if (distinct) draws_.start_distinct(n);
        while (sample->left() < n && (!distinct || draws_.is_worth_offering())) {
            Pool &pool = next_pool();
            if (pool.last_sample != number_) intend(&pool, *sample);
            pool.last_sample = number_;
            for (; pool.at < pool.keys.size() && sample->left() < n; pool.at++)
                if (!distinct || draws_.offer(pool.keys[pool.at])) sample->keys.push_back(pool.keys[pool.at]);
        }
        intend(&pools_[1 - current_], *sample); // the pool that comes next
        if (sample->left() < n) complete(sample, n);
    }

private:
    // The pool to take keys from now.
    Pool &next_pool() {
        if (pools_[current_].at < pools_[current_].keys.size()) return pools_[current_];
        end_pass(&pools_[current_]);
        current_ = 1 - current_;
        Pool &pool = pools_[current_];
        if (pool.last_sample == number_) renew(&pool, draws_.area().pool_uses);
        return pool;
    }

    void end_pass(Pool *pool) {
        pool->at = 0;
        if (--pool->passes_left == 0) return renew(pool, draws_.area().pool_uses);
        for (size_t i = pool->keys.size(); i > 1; i--)
            std::swap(pool->keys[i - 1], pool->keys[draws_.random().below(i)]);
    }

    void renew(Pool *pool, uint32_t passes) {
        *pool = Pool{};
        pool->keys = draws_.independent(draws_.area().pool_size);
        pool->passes_left = passes;
    }

    // Make sure that an intent for the pool covers the sample's clocks. It is extended by as long as it has lasted, so
    // that a pool costs few messages, and its keys stay at most twice as long as they are needed.
    void intend(Pool *pool, const Sample &sample) {
        if (pool->from == pool->until) {
            port_.intend(pool->keys, sample.start, sample.end);
            pool->from = sample.start;
            pool->until = sample.end;
        }
        if (sample.start < pool->from) {
            port_.intend(pool->keys, sample.start, pool->from);
            pool->from = sample.start;
        }
        if (sample.end > pool->until) {
            int64_t lasted = sample.end - pool->from;
            int64_t until = sample.end > INT64_MAX - lasted ? INT64_MAX : sample.end + lasted;
            port_.intend(pool->keys, pool->until, until);
            pool->until = until;
        }
    }

    // Draw the rest of a sample of distinct keys without the pools. It was offered so many draws that the pools, whose
    // keys repeat, do not help any more.
    void complete(Sample *sample, int64_t n) {
        auto before = sample->left();
        draws_.complete(&sample->keys, n);
        port_.intend({sample->keys.begin() + before, sample->keys.end()}, sample->start, sample->end);
    }

    Pool pools_[2];
    int current_ = 0;
    uint64_t number_ = 0; // number of the sample that is prepared
};

} // namespace

const SchemeKind pool_scheme{"pool", [](Draws &draws, SamplingPort &port) -> std::unique_ptr<Scheme> {
                                 return std::make_unique<Pools>(draws, port);
                             }};

} // namespace ps
