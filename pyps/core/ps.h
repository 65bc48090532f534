/* The C interface of the parameter server: the only public header of libps.
 *
 * Everything here may be called from any thread. Functions return PS_OK or another code of `ps_code`; the details of
 * the calling thread's last failure are at ps_last_error(). A call that is refused because of its arguments changes
 * nothing. The text between the two marker lines is plain C declarations, without macros, for LuaJIT's ffi.cdef.
 */
#ifndef PS_H
#define PS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Known before the pragma, which is for functions: what libps is made of stays inside. */
struct ps_node;
struct ps_worker;
#pragma GCC visibility push(default)

/* ---- declarations for ffi.cdef: begin ---- */

/* Compare with ps_abi_version(): the header that was read and the library that was loaded. */
enum { PS_ABI_VERSION = 2 };

enum ps_dtype { PS_FLOAT32 = 0, PS_FLOAT64 = 1, PS_FLOAT16 = 2, PS_BFLOAT16 = 3, PS_INT32 = 4, PS_INT64 = 5 };

enum ps_operation { PS_PULL = 0, PS_PUSH = 1, PS_SET = 2 };

enum ps_code {
    PS_OK = 0,
    PS_EINVAL = 1,    /* an argument is wrong: a timestamp never issued, an empty interval, a length below 1, ... */
    PS_EKEY = 2,      /* a key is none of the store's: error.position, error.value, error.limit */
    PS_ESIZE = 3,     /* the buffer has error.value elements, the keys need error.limit */
    PS_ENOMEM = 4,    /* the host, or the server's memory limit, has no room */
    PS_ETIMEDOUT = 5, /* a wait ended without its event */
    PS_ECLOSED = 6,   /* this handle is finalized or its server was shut down */
    PS_ELOST = 7,     /* a node was lost, this one or another: error.value is its number */
    PS_EFORKED = 8,   /* the worker belongs to the parent process: make a new one from the node, which works here */
    PS_EBUSY = 9,     /* only with PS_NOWAIT, or of a node with patience: going on means waiting */
    PS_ENOTLOCAL = 10, /* a key does not live on this node */
    PS_EWORKERS = 11, /* every worker slot is taken by a living worker */
    PS_EADDRESS = 12, /* no server answers at the address, or it refused this process */
    PS_EINTR = 13,    /* a signal arrived during a barrier of a node without patience: call again to go on waiting */
    PS_ESYSTEM = 14,  /* the operating system refused something: error.value is errno */
    PS_ESTATE = 15    /* another call has to come first, or came already: the message says which */
};

enum ps_flags { PS_NOWAIT = 1, PS_ASYNC = 2 };

/* What an intent does: give the key to the only node that wants it, replicas to several; or one of these alone. */
enum ps_techniques { PS_ALL = 0, PS_REPLICATION_ONLY = 1, PS_RELOCATION_ONLY = 2 };

/* When a node is lost: every call fails; or those go on that need no value of the lost node. */
enum ps_on_loss { PS_ON_LOSS_FAIL = 0, PS_ON_LOSS_CONTINUE = 1 };

typedef struct ps_node ps_node;     /* a node's store: created by this process or attached to */
typedef struct ps_worker ps_worker; /* one worker of a node: the handle through which parameters are used */

typedef struct ps_error {
    int32_t code;
    int32_t reserved;
    int64_t position; /* of the key in the batch, or -1 */
    int64_t value;
    int64_t limit;
    char message[240];
} ps_error;

/* Structs of options begin with their size as the caller knows it, sizeof(ps_node_options) say. A library that has more
 * fields takes them to be 0, their default; one that has fewer refuses what it does not know unless that is 0. What
 * libps fills instead comes with its size as an argument: so many bytes of it are written. */
typedef struct ps_node_options {
    uint64_t size;
    int64_t num_keys;
    const int64_t *value_lengths; /* elements per value; read during ps_node_create only */
    int64_t num_lengths;          /* 1: all values have this length; num_keys: one length per key */
    int32_t dtype;                /* ps_dtype */
    int32_t max_workers;          /* at once, dead ones not counted; 0: 256; at most 4094 */
    int32_t num_workers;          /* of this node: barriers wait until so many have ever joined; 0: for those there */
    int32_t reserved;
    int64_t memory_limit; /* bytes of shared memory the store may take; 0: what the host has. Beyond it no keys
                           * are asked for: PS_ENOMEM */
    double latch_timeout; /* seconds until waiting for a key that another worker holds is an error; 0: 10 */
    int32_t num_nodes; /* of the cluster; 0 or 1: this node is alone */
    int32_t node; /* this one, from 0 */
    int32_t techniques; /* ps_techniques */
    int32_t reserved2;
    uint64_t cluster; /* a number that the nodes of the cluster share: others are refused */
    double heartbeat; /* seconds between signs of life of a node to each other; 0: 0.5 */
    double lost_after; /* seconds of silence after which a node is lost, at least 3 heartbeats; 0: 3 */
    int32_t on_loss; /* ps_on_loss */
    int32_t reserved3;
    int64_t in_flight; /* bytes of keys and values that a worker may have on their way; 0: 64 MiB */
    int32_t server_threads; /* of several nodes: among which each shares its keys, all alike; 0: 1; at most 64 */
    int32_t reserved4;
    int64_t capacity; /* more than 0: num_keys is 0, keys are any numbers but -1, and have one length; at most so many
                       * of them this node has a value or knows anything of: beyond, PS_ENOMEM */
} ps_node_options;

typedef struct ps_node_info {
    int64_t num_keys; /* 0: keys may be any numbers */
    int64_t value_length; /* of every key, or 0 if they differ */
    int64_t longest_value; /* elements */
    int64_t total_values; /* elements of all keys together; 0 where these may be any numbers */
    int32_t dtype;
    int32_t element_bytes;
    int32_t max_workers;
    int32_t num_workers;
    int32_t num_nodes;
    int32_t node;
} ps_node_info;

typedef struct ps_node_stats {
    int64_t keys_held; /* keys whose value lives on this node */
    int64_t committed_bytes; /* shared memory in use, all of it */
    int64_t directory_bytes; /* of them: 8 for each key that began here, and pages of those for other keys in use */
    int64_t slab_bytes; /* committed for values */
    int64_t value_bytes; /* of them used by values */
    int64_t workers; /* slots in use */
    int64_t workers_joined; /* ever */
    int64_t workers_reclaimed; /* slots of dead workers that were freed */
    int64_t latches_recovered; /* latches taken over from dead workers */
    int64_t values_restored; /* of them with a half-written value that was put back */
    int64_t refused; /* messages that did not fit; see ps_node_first_refusal */
    int64_t peers_refused; /* connections without the cluster's keys */
    int64_t relocations_in; /* keys that came here from other nodes */
    int64_t relocations_out; /* keys that were handed on to other nodes */
    int64_t replicas_held; /* keys of other nodes that have a replica here, now */
    int64_t replicas_made; /* here, ever */
    int64_t requests_forwarded; /* keys of pulls, pushes and sets that were passed on to another node */
    int64_t intents_active; /* intents of workers of this node that have begun and not ended: calls, not keys; each
                             * counts once in every server thread that has keys of it */
    int64_t intents_waiting; /* and that have not begun */
    int64_t messages_received; /* by this node's server, refused ones too */
    int64_t keys_without_room; /* of intents that began: they stayed where they were, for want of room */
} ps_node_stats;

/* What happens to a key on a node. */
enum ps_trace_event_kind {
    PS_TRACE_HERE = 0, /* it lives here as the trace begins */
    PS_TRACE_RELOCATED_IN = 1, /* it lives here from now on */
    PS_TRACE_RELOCATED_OUT = 2, /* it leaves for the node `to` */
    PS_TRACE_REPLICA_MADE = 3,
    PS_TRACE_REPLICA_ENDED = 4, /* also: the key itself comes in its place */
    PS_TRACE_INTENT_BEGINS = 5, /* of the first worker of this node that has one, a little before its clock comes */
    PS_TRACE_INTENT_ENDS = 6, /* of the last one */
    PS_TRACE_LOCALIZE = 7 /* a worker of this node asked for the key */
};

typedef struct ps_trace_event {
    int64_t time_ns; /* since 1970 */
    int64_t key;
    int32_t kind; /* ps_trace_event_kind */
    int32_t to; /* a node, or -1 */
} ps_trace_event;

typedef struct ps_worker_stats {
    int64_t pulls, pushes, sets; /* calls */
    int64_t keys_pulled, keys_pushed, keys_set;
    int64_t keys_local; /* of those three together, answered on this node */
    int64_t latch_waits; /* times another worker held a key for longer than a short spin */
    int64_t longest_wait_ns; /* the longest of them */
    int64_t keys_remote; /* keys pulled, pushed and set that a server was asked for */
    int64_t keys_pulled_local, keys_pushed_local, keys_set_local; /* keys_local by operation */
    int64_t remote_operations; /* pulls, pushes, sets and localizes that were sent and have ended */
    int64_t remote_wait_ns; /* from sending each until its last answer was taken; their sum */
    int64_t longest_remote_ns; /* the longest of them */
} ps_worker_stats;

/* What ps_prepare_sample draws; see the files in pyps/core/sampling/ for what holds of each. */
typedef struct ps_sampling_options {
    uint64_t size;
    const char *scheme; /* naive, preloc, pool or local */
    const char *distribution; /* uniform, log-uniform or weighted */
    int64_t min, max; /* keys of [min, max) are drawn */
    const double *weights; /* of a weighted distribution, one per key of the range; read during the call only */
    int64_t num_weights;
    uint64_t seed; /* the n-th worker of a node draws the same keys each time */
    int32_t has_seed; /* 0: a seed of the system's choice */
    int32_t with_replacement; /* 0: the keys of one sample are distinct */
    int32_t pool_size; /* of the pool scheme: draws in a pool; 0: 250 */
    int32_t pool_uses; /* and how often each is used; 0: 16 */
} ps_sampling_options;

/* One pull, push or set. `timeout` bounds the waits of the whole call for other nodes. What goes there first waits,
 * asynchronous or not, until this node's server knows the worker, operations on their way that do something else with
 * one of its keys, and pulls that fill its buffer, have ended, and in_flight and 4096 operations leave room: if that
 * ends with PS_ETIMEDOUT, nothing was sent. Unless asynchronous it then waits for the answers: after PS_ETIMEDOUT it
 * was sent and may have been done, or be done yet; the message says which. `done` counts the keys that are finished, as
 * those are that live here: start with 0; after PS_EBUSY the same one, passed again, goes on from there. The caller
 * owns both buffers; they are not used after the call when `timestamp` is -1. */
typedef struct ps_request {
    int32_t operation; /* ps_operation */
    int32_t flags; /* ps_flags */
    const int64_t *keys;
    int64_t num_keys;
    void *values; /* the keys' values one after another, aligned to their element; read only, except by PS_PULL */
    int64_t num_values; /* elements */
    int64_t done;
    int64_t timestamp; /* out: -1: answered */
    double
        timeout; /* seconds; 0: 300. For a key that a worker of this node holds, latch_timeout is the limit instead */
} ps_request;

int32_t ps_abi_version(void);
const ps_error *ps_last_error(void); /* of the calling thread; valid until its next failing call; never null */
const char *ps_code_name(int32_t code); /* static text */
int32_t ps_element_bytes(int32_t dtype); /* 0 for an unknown dtype */

/* Nodes. A ps_node is owned by its caller, which frees it with ps_node_free. Workers keep what they need of it: they
 * may outlive it. The memory goes back when the node and its workers are shut down and finalized, whether they are
 * freed or not. ps_node_listen starts to accept other processes of this user; 64 bytes suffice for the address.
 * ps_node_shutdown closes this handle; if it is the creator's, the calls of all workers fail from now on, and keys of
 * several nodes that live here are lost: before it, ps_node_leave ends this node's workers and waits until every other
 * node has come to its own ps_node_leave. It waits for none if this process has created another one of them that is
 * not at its end yet. PS_ETIMEDOUT: some did not come. */
int32_t ps_node_create(const ps_node_options *options, ps_node **node);
int32_t ps_node_attach(const char *address, double timeout, ps_node **node); /* timeout in seconds; 0: 10 */
int32_t ps_node_listen(ps_node *node, char *address, size_t capacity);
/* Of several nodes: each is created, bound to an address of its own ("tcp://127.0.0.1:*" takes a free port; the
 * endpoint has at most 127 bytes; all interfaces at once are refused), told all nodes' endpoints in their order, and
 * works from then on. "ipc://PATH" is a socket of this host, "memory://NAME" for nodes and workers of one process. */
int32_t ps_load_zmq(const char *path); /* the ZeroMQ library, before the first node of several is bound; null: what
    PYPS_ZMQ names in the environment, else the system's. Processes that attach open PYPS_ZMQ's or their server's. */
/* Before it is bound: from now on all that nodes and workers say to each other is encrypted, and only those are heard
 * that have the cluster's pair of keys, in Z85 (40 characters, as zmq_curve_keypair makes them). Processes that attach
 * find both in the node's memory, which only processes of the same user get. */
int32_t ps_node_secure(ps_node *node, const char *public_key, const char *secret_key);
/* Before it is bound: from now on what happens to these keys on this node is kept, or to all keys if there are none.
 * ps_node_take_trace hands over the oldest events, also after the node was shut down, to the process that created it;
 * `count` says how many. Of more than 1048576 that were not taken the oldest are forgotten: so many, since the last
 * call. */
int32_t ps_node_trace(ps_node *node, const int64_t *keys, int64_t num_keys);
int32_t ps_node_take_trace(ps_node *node, ps_trace_event *events, int64_t capacity, int64_t *count, int64_t *forgotten);
int32_t ps_node_bind(ps_node *node, const char *endpoint, char *bound, size_t capacity);
int32_t ps_node_connect(ps_node *node, const char *const *endpoints, int32_t num_nodes);
int32_t ps_node_barrier(ps_node *node, double timeout); /* all nodes, by their creators; seconds; 0: 300 */
int32_t ps_node_leave(ps_node *node, double timeout); /* seconds; 0: 300 */
/* For callers with something else to do, as to look after signals: from now on calls with this handle, and with workers
 * that are made of it, which wait for other nodes or workers come back after so many seconds with PS_EBUSY. Call again
 * to go on, with the same arguments and what is left of the timeout: nothing was sent yet, but a ps_request with a
 * timestamp of 0 or more is on its way, to be waited for with ps_wait. A caller that does not go on with a barrier,
 * ps_wait_sync, ps_quiesce, ps_end_setup or ps_node_leave calls it once more with a short timeout, to leave it; one
 * that does not wait for a request calls ps_abandon. One thread at a time waits in those with a worker. 0: never come
 * back, as in the beginning. */
int32_t ps_node_set_patience(ps_node *node, double seconds);
/* By the process that created the node, once; workers of all processes can sample from then on. */
int32_t ps_node_enable_sampling(ps_node *node, const ps_sampling_options *options);
int32_t ps_node_shutdown(ps_node *node); /* idempotent */
int32_t ps_node_is_open(ps_node *node); /* 1 or 0 */
void ps_node_free(ps_node *node); /* shuts down first; null is fine */
int32_t ps_node_get_info(ps_node *node, ps_node_info *info, size_t bytes);
int32_t ps_node_get_stats(ps_node *node, ps_node_stats *stats, size_t bytes);
/* Why the first message was refused; an empty text: none was. 160 bytes suffice. */
int32_t ps_node_first_refusal(ps_node *node, char *reason, size_t capacity);
int32_t ps_node_value_length(ps_node *node, int64_t key, int64_t *length);
int32_t ps_node_total_length(ps_node *node, const int64_t *keys, int64_t num_keys, int64_t *total);

/* Workers. A ps_worker is owned by its caller, which frees it with ps_worker_free when no thread is inside a call of
 * it. Calls with one worker from several threads run one after another. An intent is for clocks [start, end), where an
 * end of 0 means start + 1. ps_pull_if_local pulls all keys or none. */
int32_t ps_worker_create(ps_node *node, ps_worker **worker);
int32_t ps_worker_finalize(ps_worker *worker); /* leaves the node; idempotent; from any thread. Operations that are on
    their way may be lost: see ps_pending */
void ps_worker_free(ps_worker *worker); /* finalizes first; null is fine */
int32_t ps_worker_id(ps_worker *worker); /* 1..max_workers, unique among the node's living workers; 0 after finalize */
int32_t ps_worker_get_stats(ps_worker *worker, ps_worker_stats *stats, size_t bytes);

int32_t ps_run(ps_worker *worker, ps_request *request);
int32_t ps_pull(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *values, int64_t num_values,
                int64_t *timestamp);
int32_t ps_push(ps_worker *worker, const int64_t *keys, int64_t num_keys, const void *values, int64_t num_values,
                int64_t *timestamp);
int32_t ps_set(ps_worker *worker, const int64_t *keys, int64_t num_keys, const void *values, int64_t num_values,
               int64_t *timestamp);
int32_t ps_pull_if_local(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *values, int64_t num_values,
                         int32_t *local);

/* to[i] = from[i] - first, for clients that call the first key `first`; the two do not overlap. */
void ps_shift_keys(int64_t *to, const int64_t *from, int64_t num_keys, int64_t first);

int32_t ps_localize(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t *timestamp);
int32_t ps_intent(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t start, int64_t end);
/* A sample of n keys for clocks [start, end), as in ps_intent. It may be pulled in parts: each takes its next num_keys
 * keys, writes them to `keys` and their values to `values`, which may have room for more than these. Without PS_OK
 * nothing was taken. When all keys were pulled it is finished; ps_finish_sample, which may come again, forgets it
 * before that. PS_NOWAIT and PS_ASYNC are as for ps_run; `timestamp` may be null. */
int32_t ps_prepare_sample(ps_worker *worker, int64_t n, int64_t start, int64_t end, int64_t *id);
int32_t ps_pull_sample(ps_worker *worker, int64_t id, int64_t *keys, int64_t num_keys, void *values, int64_t num_values,
                       int32_t flags, int64_t *timestamp);
int32_t ps_finish_sample(ps_worker *worker, int64_t id);

int32_t ps_advance_clock(ps_worker *worker, int64_t *clock); /* the new clock; may be null */
int32_t ps_current_clock(ps_worker *worker, int64_t *clock);

int32_t ps_wait(ps_worker *worker, int64_t timestamp, double timeout); /* seconds; 0: 300 */
int32_t ps_is_finished(ps_worker *worker, int64_t timestamp, int32_t *finished);
/* Of the last pull, push, set, localize or pulled sample, also if the call has waited for it; -1: answered here. */
int32_t ps_last_timestamp(ps_worker *worker, int64_t *timestamp);
/* The caller takes his buffer back: a pull that is on its way writes to it no more. A push or set is done all the same,
 * soon or later, if its messages arrive. */
int32_t ps_abandon(ps_worker *worker, int64_t timestamp);
int32_t ps_wait_all(ps_worker *worker, double timeout);
int32_t ps_pending(ps_worker *worker,
                   int64_t *operations); /* how many have not ended, as far as is known; never waits */
/* Wait until the operations of this worker have ended, its intents that have begun are acted on, everything that was
 * added to replicas on this node is in the owners' values, and what these were at the call in the replicas here. */
int32_t ps_wait_sync(ps_worker *worker, double timeout);
/* Wait until this node has nothing on its way: operations of this worker, keys, replicas, what was added to them. When
 * workers of all nodes have called it, and none has operated meanwhile, nothing is on its way anywhere. */
int32_t ps_quiesce(ps_worker *worker, double timeout);
/* While values are set up intents of this worker wait, and nothing counts in its statistics. ps_end_setup waits for
 * what this worker has done to be exchanged (ps_wait_sync), for all workers (ps_barrier), and for both again. */
int32_t ps_begin_setup(ps_worker *worker);
int32_t ps_end_setup(ps_worker *worker, double timeout);
/* Until all workers of all nodes have come: of each node those that are there, and so many as its num_workers says must
 * have joined before. Workers that finalize or die, and nodes without workers, are not waited for. Seconds; 0: 300. */
int32_t ps_barrier(ps_worker *worker, double timeout);

/* ---- declarations for ffi.cdef: end ---- */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
