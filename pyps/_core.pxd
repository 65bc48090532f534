# The C interface for Cython; ps.h documents it.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from pyps._spans cimport Span

cdef extern from "ps.h" nogil:
    int PS_ABI_VERSION
    int PS_PULL, PS_PUSH, PS_SET
    int PS_LATENCY_COUNTS
    int PS_OK, PS_EINVAL, PS_EKEY, PS_ESIZE, PS_ENOMEM, PS_ETIMEDOUT, PS_ECLOSED, PS_ELOST, PS_EFORKED, PS_EBUSY
    int PS_ENOTLOCAL, PS_EWORKERS, PS_EADDRESS, PS_EINTR, PS_ESYSTEM, PS_ESTATE
    int PS_NOWAIT, PS_ASYNC
    int PS_KEYS_HERE, PS_KEYS_BEGUN
    int PS_MEMBER_HERE, PS_MEMBER_ABSENT

    ctypedef struct ps_node:
        pass

    ctypedef struct ps_worker:
        pass

    ctypedef struct ps_error:
        int32_t code
        int64_t position
        int64_t value
        int64_t limit
        const char *message

    ctypedef struct ps_node_options:
        uint64_t size
        int64_t num_keys
        const int64_t *value_lengths
        int64_t num_lengths
        int32_t dtype
        int32_t max_workers
        int32_t num_workers
        int64_t memory_limit
        double latch_timeout
        int32_t num_nodes
        int32_t node
        int32_t techniques
        uint64_t cluster
        double heartbeat
        double lost_after
        int32_t on_loss
        int64_t in_flight
        int32_t server_threads
        int32_t replicas
        int32_t places
        int64_t capacity
        const char *optimizer
        const char *initializer
        const char *hash
        int32_t eviction
        double max_age
        int32_t admission
        const char *compression

    ctypedef struct ps_node_info:
        int64_t num_keys
        int64_t value_length
        int64_t longest_value
        int64_t total_values
        int32_t dtype
        int32_t element_bytes
        int32_t max_workers
        int32_t num_workers
        int32_t num_nodes
        int32_t node
        int32_t places
        int32_t replicas

    ctypedef struct ps_member:
        int32_t state
        char endpoint[128]

    ctypedef struct ps_node_stats:
        int64_t keys_held
        int64_t committed_bytes
        int64_t directory_bytes
        int64_t slab_bytes
        int64_t value_bytes
        int64_t workers
        int64_t workers_joined
        int64_t workers_reclaimed
        int64_t latches_recovered
        int64_t values_restored
        int64_t refused
        int64_t peers_refused
        int64_t relocations_in
        int64_t relocations_out
        int64_t replicas_held
        int64_t replicas_made
        int64_t requests_forwarded
        int64_t intents_active
        int64_t intents_waiting
        int64_t intents_skipped
        int64_t messages_received
        int64_t keys_without_room
        int64_t operations_pending
        int64_t nodes_lost
        int64_t keys_evicted
        int64_t copies_held
        int64_t copy_bytes
        int64_t keys_lacking_copies
        int64_t keys_expired
        int64_t keys_waiting
        int64_t pushes_dropped
        int64_t keys_to_take_over

    ctypedef struct ps_trace_event:
        int64_t time_ns
        int64_t key
        int32_t kind
        int32_t to

    ctypedef struct ps_worker_stats:
        int64_t pulls
        int64_t pushes
        int64_t sets
        int64_t keys_pulled
        int64_t keys_pushed
        int64_t keys_set
        int64_t keys_local
        int64_t latch_waits
        int64_t longest_wait_ns
        int64_t keys_remote
        int64_t keys_pulled_local
        int64_t keys_pushed_local
        int64_t keys_set_local
        int64_t remote_operations
        int64_t remote_wait_ns
        int64_t longest_remote_ns
        int64_t localizes

    ctypedef struct ps_latencies:
        int64_t total_ns
        int64_t *counts

    ctypedef struct ps_sampling_options:
        uint64_t size
        const char *scheme
        const char *distribution
        int64_t min
        int64_t max
        const double *weights
        int64_t num_weights
        uint64_t seed
        int32_t has_seed
        int32_t with_replacement
        int32_t pool_size
        int32_t pool_uses

    ctypedef struct ps_request:
        int32_t operation
        int32_t flags
        const int64_t *keys
        int64_t num_keys
        void *values
        int64_t num_values
        int64_t done
        int64_t timestamp
        double timeout

    int32_t ps_abi_version()
    const ps_error *ps_last_error()
    int32_t ps_node_create(const ps_node_options *options, ps_node **node)
    int32_t ps_node_attach(const char *address, double timeout, ps_node **node)
    int32_t ps_node_listen(ps_node *node, char *address, size_t capacity)
    int32_t ps_load_zmq(const char *path)
    int32_t ps_node_secure(ps_node *node, const char *public_key, const char *secret_key)
    int32_t ps_node_bind(ps_node *node, const char *endpoint, char *bound, size_t capacity)
    int32_t ps_node_connect(ps_node *node, const char *const *endpoints, int32_t num_nodes)
    int32_t ps_node_join(ps_node *node, const char *const *endpoints, int32_t num_endpoints, double timeout)
    int32_t ps_node_take_place(ps_node *node, double timeout, int32_t *number)
    int32_t ps_node_get_member(ps_node *node, int32_t number, ps_member *member, size_t bytes)
    int32_t ps_node_barrier(ps_node *node, double timeout)
    int32_t ps_node_leave(ps_node *node, double timeout)
    int32_t ps_node_hand_over(ps_node *node, double timeout)
    int32_t ps_node_set_patience(ps_node *node, double seconds)
    int32_t ps_node_enable_sampling(ps_node *node, const ps_sampling_options *options)
    int32_t ps_node_table(ps_node *node, const char *name, const ps_node_options *options, double timeout,
                          ps_node **table)
    int32_t ps_node_drop_table(ps_node *node, const char *name, double timeout)
    int32_t ps_node_table_names(ps_node *node, char *names, size_t capacity)
    int64_t ps_text_key(const char *text, size_t bytes)
    int32_t ps_node_table_options(ps_node *node, const char *name, char *options, size_t capacity)
    int32_t ps_node_shutdown(ps_node *node)
    int32_t ps_node_is_open(ps_node *node)
    void ps_node_free(ps_node *node)
    int32_t ps_node_get_info(ps_node *node, ps_node_info *info, size_t bytes)
    int32_t ps_node_get_stats(ps_node *node, ps_node_stats *stats, size_t bytes)
    int32_t ps_node_get_worker_stats(ps_node *node, ps_worker_stats *stats, size_t bytes)
    int32_t ps_node_get_latencies(ps_node *node, int32_t operation, int32_t remote, ps_latencies *latencies,
                                  size_t bytes)
    int32_t ps_node_set_metrics(ps_node *node, int32_t number, const char *url)
    int32_t ps_node_get_metrics(ps_node *node, int32_t number, char *url, size_t capacity)
    int64_t ps_latency_limit(int32_t count)
    int32_t ps_node_first_refusal(ps_node *node, char *reason, size_t capacity)
    int32_t ps_node_trace(ps_node *node, const int64_t *keys, int64_t num_keys)
    int32_t ps_node_take_trace(ps_node *node, ps_trace_event *events, int64_t capacity, int64_t *count,
                               int64_t *forgotten) nogil
    int32_t ps_node_get_optimizer(ps_node *node, char *text, size_t capacity)
    int32_t ps_read_optimizer(const char *optimizer, char *text, size_t capacity)
    int32_t ps_node_get_initializer(ps_node *node, char *text, size_t capacity)
    int32_t ps_read_initializer(const char *initializer, char *text, size_t capacity)
    int32_t ps_read_compression(const char *compression, char *text, size_t capacity)
    int32_t ps_node_tune(ps_node *node, const char *settings)
    int32_t ps_node_total_length(ps_node *node, const int64_t *keys, int64_t num_keys, int64_t *total)
    int32_t ps_node_row_sizes(ps_node *node, const int64_t *keys, int64_t num_keys, int64_t *lengths, int64_t *bytes)
    int32_t ps_worker_create(ps_node *node, ps_worker **worker)
    int32_t ps_worker_create_aside(ps_node *node, ps_worker **worker)
    int32_t ps_worker_finalize(ps_worker *worker)
    void ps_worker_free(ps_worker *worker)
    int32_t ps_worker_id(ps_worker *worker)
    int32_t ps_worker_get_stats(ps_worker *worker, ps_worker_stats *stats, size_t bytes)
    int32_t ps_run(ps_worker *worker, ps_request *request)
    int32_t ps_pull_if_local(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *values,
                             int64_t num_values, int32_t *local)
    int32_t ps_contains(ps_worker *worker, const int64_t *keys, int64_t num_keys, uint8_t *found, int64_t *timestamp)
    int32_t ps_delete(ps_worker *worker, const int64_t *keys, int64_t num_keys, uint8_t *deleted, int64_t *timestamp)
    int32_t ps_find_keys(ps_worker *worker, int32_t which, int64_t *next, int64_t *keys, int64_t capacity,
                         int64_t *count)
    int32_t ps_read_rows(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *rows, int64_t bytes,
                         uint8_t *here)
    int32_t ps_write_rows(ps_worker *worker, const int64_t *keys, int64_t num_keys, const void *rows, int64_t bytes,
                          uint8_t *here)
    int32_t ps_localize(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t *timestamp)
    int32_t ps_intent(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t start, int64_t end)
    int32_t ps_prepare_sample(ps_worker *worker, int64_t n, int64_t start, int64_t end, int64_t *id)
    int32_t ps_pull_sample(ps_worker *worker, int64_t id, int64_t *keys, int64_t num_keys, void *values,
                           int64_t num_values, int32_t flags, int64_t *timestamp)
    int32_t ps_finish_sample(ps_worker *worker, int64_t id)
    int32_t ps_advance_clock(ps_worker *worker, int64_t *clock)
    int32_t ps_current_clock(ps_worker *worker, int64_t *clock)
    int32_t ps_wait(ps_worker *worker, int64_t timestamp, double timeout)
    int32_t ps_is_finished(ps_worker *worker, int64_t timestamp, int32_t *finished)
    int32_t ps_last_timestamp(ps_worker *worker, int64_t *timestamp)
    int32_t ps_abandon(ps_worker *worker, int64_t timestamp)
    int32_t ps_wait_all(ps_worker *worker, double timeout)
    int32_t ps_pending(ps_worker *worker, int64_t *operations)
    int32_t ps_wait_sync(ps_worker *worker, double timeout)
    int32_t ps_follow_sync(ps_worker *worker, int64_t behind, double timeout)
    int32_t ps_quiesce(ps_worker *worker, double timeout)
    int32_t ps_begin_setup(ps_worker *worker)
    int32_t ps_end_setup(ps_worker *worker, double timeout)
    int32_t ps_barrier(ps_worker *worker, double timeout)


ctypedef int32_t (*WorkerWait)(ps_worker *worker, double timeout) noexcept nogil
ctypedef int32_t (*NodeWait)(ps_node *node, double timeout) noexcept nogil


cdef class Endpoints:
    cdef list texts
    cdef const char **pointers
    cdef int32_t count


cdef class Member:
    cdef ps_node *node
    cdef ps_node_info info

    cdef ps_member member(self, int32_t number) except *
    cdef int patiently(self, NodeWait call, object timeout) except -1


cdef class Node(Member):
    cdef readonly object dtype


cdef struct Wait:
    double limit  # seconds; for everything that one call from Python waits for
    double left
    double end  # by the monotonic clock; 0: the wait has not begun
    bint is_begun  # the current call of the core has begun
    bint tells  # the core's call gets the seconds that are left, and raises the timeout itself


cdef class Borrowed:
    cdef Span span
    cdef object owner, copy_back


cdef class Operations:
    cdef ps_worker *worker
    cdef ps_worker *parents  # in a forked child: the worker that the parent process had
    cdef Node store
    cdef dict borrowed  # buffers of pulls that have not ended, by timestamp
    cdef bint finalized
    cdef int code, bits  # of an element, in DLPack's numbers
    # Whether operations that are not asynchronous return timestamps, as in Lapse and AdaPM.
    cdef public bint tells_timestamps

    cdef int32_t create(self, ps_node *node, ps_worker **worker) noexcept
    cdef ps_worker *inherited(self, ps_worker *used) except NULL
    cdef int require_worker(self) except -1
    cdef ps_worker *usable(self) except NULL
    cdef object operate(self, int operation, object keys, object values, bint asynchronous, object timeout)
    cdef bint pull_local(self, object keys, object values) except -1
    cdef int carry_out(self, ps_request *request, Wait *wait) except -1
    cdef int persist(self, ps_worker *worker, ps_request *request, Wait *wait) except -1
    cdef int finish(self, ps_worker *worker, int64_t timestamp, Wait *wait) except -1
    cdef object pull_new(self, object keys, bint asynchronous, object timeout)
    cdef object result(self, object values, bint writes, bint asynchronous)
    cdef int32_t submit(self, ps_worker *worker, ps_request *request, Wait *wait) except -1
    cdef int borrow(self, object values, bint writes, bint keep, bint asynchronous, Borrowed borrowed) except -1
    cdef int complete(self, object values, bint writes, Borrowed borrowed) except -1
    cdef int borrow_other(self, object values, bint writes, bint keep, Borrowed borrowed) except -1
    cdef object pending(self, int64_t timestamp, object values, Borrowed borrowed)
    cdef int give_back(self, int64_t timestamp) except -1


ctypedef int32_t (*AskAboutRows)(ps_worker *worker, const int64_t *keys, int64_t num_keys, uint8_t *answers,
                                 int64_t *timestamp) noexcept nogil


cdef class Existence(Operations):
    cdef object ask_about_rows(self, AskAboutRows call, object keys, object timeout)


cdef class Worker(Existence):
    cdef list followers  # workers whose clocks are as this one's
    cdef bint is_waiting  # a thread is in `patiently`

    cdef int patiently(self, WorkerWait call, object timeout, int64_t behind=*) except -1
    cdef int settle(self, WorkerWait call, object timeout) except -1
    cdef bint is_pending(self) except -1


cdef class SamplingWorker(Worker):
    pass


ctypedef int32_t (*RowCall)(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *rows, int64_t bytes,
                            uint8_t *here) noexcept nogil


cdef class RowWorker(Worker):
    cdef object visit(self, RowCall call, object keys, object rows, bint writes)
