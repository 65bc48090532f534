// A ps_worker: one worker's place in a node, and its operations. `mutex_` guards everything, so that calls of several
// threads run one after another. A barrier waits without it, so that another thread can finalize the worker.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "net/remote.h"
#include "node.h"
#include "sampling/sampler.h"
#include "store/latch.h"
#include "store/whole_rows.h"
#include "worker/barrier.h"
#include "worker/gradients.h"
#include "worker/workers.h"

struct [[gnu::visibility("hidden")]] ps_worker {
public:
    explicit ps_worker(std::shared_ptr<ps::Attachment> attachment, ps::Role role = ps::Role::training);
    ps_worker(const ps_worker &) = delete;
    ps_worker &operator=(const ps_worker &) = delete;
    ~ps_worker();

    void finalize() noexcept;
    int32_t id() const { return finalized_ ? 0 : int32_t(ps::slot_of(me_)); }
    ps_worker_stats stats();

    int32_t run(ps_request &request, double timeout);
    bool pull_if_local(ps_request &request);
    int64_t localize(const int64_t *keys, int64_t num_keys);
    void intent(const int64_t *keys, int64_t num_keys, int64_t start, int64_t end);
    int64_t prepare_sample(int64_t n, int64_t start, int64_t end);
    int32_t pull_sample(int64_t id, int64_t *keys, ps_request *request);
    void finish_sample(int64_t id);
    int64_t advance_clock();
    int64_t current_clock();
    void wait(int64_t timestamp, double timeout);
    void wait_all(double timeout);
    void abandon(int64_t timestamp);
    int32_t settle(ps::Until until, double timeout, uint64_t behind = 0);
    void begin_setup();
    int32_t end_setup(double timeout);
    bool is_finished(int64_t timestamp);
    int64_t last_timestamp() const { return last_.load(std::memory_order_relaxed); }
    int64_t pending();
    int32_t barrier(double timeout);
    void require_usable();
    int64_t ask_about_rows(ps::Operation operation, const int64_t *keys, int64_t num_keys, uint8_t *answers);
    int64_t find_keys(int32_t which, int64_t *next, int64_t *keys, int64_t capacity);
    void read_rows(const ps::RowBatch &batch);
    void write_rows(const ps::RowBatch &batch);

private:
    class SampledAccess;

    std::unique_lock<std::mutex> lock();
    std::unique_lock<std::mutex> lock_for(const ps_request &request); // not locked if it is busy and PS_NOWAIT is set
    void require_mine() const;         // throws PS_EFORKED
    ps::Segment &require_open() const; // throws PS_ECLOSED, PS_ELOST
    void count(const ps_request &request, size_t elsewhere);
    bool is_timed(int32_t operation) const;
    void took(int32_t operation, double began); // an operation that needed no other node
    ps::Remote &remote(double patience = HUGE_VAL, double timeout = ps::welcome_timeout);
    void leave_setup();
    bool has_remote_work() const { return remote_ && remote_->is_busy(); }
    void require_issued(int64_t timestamp) const;
    int32_t begin(ps_request &request, ps::Deadline &deadline);
    int32_t submit(ps_request &request, ps::Deadline &deadline);
    int32_t submit_gradients(ps_request &request, ps::Deadline &deadline);
    int32_t wait_for_answers(ps_request &request, ps::Deadline &deadline);
    uint64_t bytes_of(const ps_request &request) const;
    bool is_for_server(const ps_request &request) const;
    void get_ready(const ps_request &request, ps::Deadline &deadline);
    int32_t run_here(ps_request &request);
    int32_t pull_from_here(ps_request &request);
    bool wait_for_order(const ps_request &request, ps::Deadline &deadline, bool *follows = nullptr);
    bool are_left(const ps_request &request, const std::vector<int64_t> &positions) const;
    int32_t begin_everywhere(ps_request &request, ps::Deadline &deadline);
    bool is_buffer_free(const ps_request &request);
    static int64_t end_of(int64_t start, int64_t end);
    bool skips(int64_t start, int64_t end);
    void send_intent(const int64_t *keys, int64_t num_keys, int64_t start, int64_t end);
    ps::Sampler &sampler();

    std::shared_ptr<ps::Attachment> attachment_; // null once finalized
    uint32_t generation_;
    const double patience_; // seconds after which a wait returns PS_EBUSY
    uint32_t number_ = 0; // how many workers had joined this node, this one included
    ps::Holder me_;
    ps::WorkerSlot &slot_;
    ps::Latches latches_;
    std::mutex mutex_;
    std::atomic<bool> finalizing_{false}, finalized_{false};
    ps::Gradients gradients_;
    std::unique_ptr<ps::Remote> remote_; // made when it is needed first
    std::atomic<int64_t> last_{-1};      // the timestamp of the last operation
    std::unique_ptr<ps::SamplingPort> sampled_access_; // these two are also made when they are needed first
    std::unique_ptr<ps::Sampler> sampler_;
    std::vector<int64_t> before_; // what the slot's counters have that does not count for this worker
    std::vector<int64_t> before_setup_; // what the counters were when the setup began, and then the longest times
    int setup_steps_ = 0; // how many steps of end_setup() are done
    std::mutex barrier_mutex_; // guards barrier_; held while waiting
    ps::Barrier barrier_;
};
