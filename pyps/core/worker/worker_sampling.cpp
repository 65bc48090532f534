// A worker's samples, and what the sampling schemes need from the worker.
#include <algorithm>

#include "errors.h"
#include "sampling/enabling.h"
#include "store/batch.h"
#include "worker/worker.h"

using namespace ps;

class ps_worker::SampledAccess : public SamplingPort {
public:
    explicit SampledAccess(ps_worker &worker) : worker_(worker), segment_(*worker.attachment_->segment) {}

    void intend(const std::vector<int64_t> &keys, int64_t start, int64_t end) override {
        if (!worker_.skips(start, end)) worker_.send_intent(keys.data(), int64_t(keys.size()), start, end);
    }
    void prefetch(int64_t key) const override {
        __builtin_prefetch(&segment_.entry(segment_.rows().row(uint64_t(key))));
    }
    int64_t next_local(int64_t from, int64_t to) const override { return ps::next_local(segment_, from, to); }
    int64_t total_length(const int64_t *keys, int64_t n) const override { return ps::total_length(segment_, keys, n); }
    int32_t pull(ps_request &request) override {
        Deadline deadline(default_wait_timeout);
        return worker_.begin(request, deadline);
    }

    int32_t pull_local(ps_request &request) override {
        check_request(segment_, request);
        request.timestamp = -1;
        Deadline deadline(default_wait_timeout);
        return worker_.wait_for_order(request, deadline) ? worker_.run_here(request) : int32_t(PS_EBUSY);
    }

private:
    ps_worker &worker_;
    Segment &segment_;
};

// Workers with the same seed draw different keys: each has a stream by its node and its number among the workers that
// have joined the node.
Sampler &ps_worker::sampler() {
    if (!sampler_) {
        Segment &segment = *attachment_->segment;
        const SamplingArea &area = sampling_area(segment);
        sampled_access_ = std::make_unique<SampledAccess>(*this);
        sampler_ = std::make_unique<Sampler>(area, uint64_t(segment.header().node) << 32 | number_, *sampled_access_);
    }
    return *sampler_;
}

int64_t ps_worker::prepare_sample(int64_t n, int64_t start, int64_t end) {
    auto held = lock();
    require_open();
    if (remote_) remote_->make_room_for_intents(uint64_t(std::max(n, int64_t(0))) * sizeof(Key), default_wait_timeout);
    return sampler().prepare(n, start, end_of(start, end));
}

int32_t ps_worker::pull_sample(int64_t id, int64_t *keys, ps_request *request) {
    auto held = lock_for(*request);
    if (!held) return PS_EBUSY;
    const Header &header = require_open().header();
    if (request->num_keys > 0 && !keys) fail(PS_EINVAL, Where{}, "keys is null");
    if (overlap(keys, request->num_keys * 8, request->values, request->num_values * header.element_bytes))
        fail(PS_EINVAL, Where{}, "the buffer for the values overlaps the one for the keys");
    int32_t code = sampler().pull(id, keys, request);
    Deadline answer(default_wait_timeout);
    return code == PS_OK ? wait_for_answers(*request, answer) : code;
}

void ps_worker::finish_sample(int64_t id) {
    auto held = lock();
    require_open();
    sampler().finish(id);
}
