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
/* Declared before the pragma, which exports the functions below it, but not the members of these two. */
struct ps_node;
struct ps_worker;
#pragma GCC visibility push(default)

/* ---- declarations for ffi.cdef: begin ---- */

/* Compare it with ps_abi_version(): if they differ, this header does not describe the library that was loaded. */
enum { PS_ABI_VERSION = 2 };

enum ps_dtype { PS_FLOAT32 = 0, PS_FLOAT64 = 1, PS_FLOAT16 = 2, PS_BFLOAT16 = 3, PS_INT32 = 4, PS_INT64 = 5 };

enum ps_operation { PS_PULL = 0, PS_PUSH = 1, PS_SET = 2, PS_LOCALIZE = 3 /* not of a ps_request */ };

enum ps_code {
    PS_OK = 0,
    PS_EINVAL = 1,    /* an argument is wrong: a timestamp never issued, an empty interval, a length below 1, ... */
    PS_EKEY = 2,      /* the store has no such key: error.value at error.position; there are error.limit keys,
                       * or any numbers if that is 0 */
    PS_ESIZE = 3,     /* the buffer has error.value elements, the keys need error.limit */
    PS_ENOMEM = 4,    /* the host, or the server's memory limit, has no room */
    PS_ETIMEDOUT = 5, /* what was waited for did not happen in time */
    PS_ECLOSED = 6,   /* this handle is finalized, its server was shut down, or its table was dropped */
    PS_ELOST = 7,     /* a node was lost, this one or another: error.value is its number */
    PS_EFORKED = 8,   /* the worker belongs to the parent process: make a new one from the node, which works here */
    PS_EBUSY = 9,     /* going on means waiting: only with PS_NOWAIT, or after ps_node_set_patience */
    PS_ENOTLOCAL = 10, /* a key does not live on this node */
    PS_EWORKERS = 11, /* every worker slot is taken by a living worker */
    PS_EADDRESS = 12, /* no server answers at the address, or it refused this process */
    PS_EINTR = 13,    /* a signal interrupted a barrier (never after ps_node_set_patience): call again to wait on */
    PS_ESYSTEM = 14,  /* the operating system refused something: error.value is errno */
    PS_ESTATE = 15    /* another call has to come first, or came already: the message says which */
};

/* The keys that live on this node; those that exist and began here, wherever they live now: all nodes together have
 * each key once. */
enum ps_keys { PS_KEYS_HERE = 0, PS_KEYS_BEGUN = 1 };

enum ps_flags { PS_NOWAIT = 1, PS_ASYNC = 2 };

/* What an intent does. PS_ALL: a key that one node wants moves there, one that several want gets replicas on them.
 * PS_AUTO: the same, but intents of at most 8 clocks are skipped while a node finds that clocks advance faster so. */
enum ps_techniques { PS_ALL = 0, PS_REPLICATION_ONLY = 1, PS_RELOCATION_ONLY = 2, PS_AUTO = 3 };

/* What follows when a node is lost: every call fails, or only calls that need a value of the lost node fail. */
enum ps_on_loss { PS_ON_LOSS_FAIL = 0, PS_ON_LOSS_CONTINUE = 1 };

/* Which keys a full node lets go when new ones need their room. PS_EVICT_NONE: none, a call that needs room fails. LRU:
 * those whose last pull, push or set was the longest ago. LFU: those that were used the fewest times. AGE: those whose
 * last push or set was the longest ago. */
enum ps_eviction { PS_EVICT_NONE = 0, PS_EVICT_LRU = 1, PS_EVICT_LFU = 2, PS_EVICT_AGE = 3 };

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

/* Structs of options begin with their size as the caller was compiled with it, for example sizeof(ps_node_options). A
 * library that knows more fields takes the missing ones to be 0, their default; one that knows fewer refuses the struct
 * unless all fields that it does not know are 0. Of a struct that libps fills, the caller passes the size as an
 * argument, and no more bytes than that are written. */
typedef struct ps_node_options {
    uint64_t size;
    int64_t num_keys;
    const int64_t *value_lengths; /* elements per value; read during ps_node_create only */
    int64_t num_lengths;          /* 1: all values have this length; num_keys: one length per key; see capacity */
    int32_t dtype;                /* ps_dtype */
    int32_t max_workers;          /* living ones at the same time; 0: 256; at most 4094 */
    int32_t num_workers; /* of this node that barriers wait for, also before they joined; 0: those that have joined */
    int32_t reserved;
    int64_t memory_limit; /* bytes of shared memory that the store may take, with the copies that replicas keep of
                           * other nodes' keys, which are never refused; 0: what the host has. A node that has reached
                           * it asks other nodes for no more keys, and takes no new ones: PS_ENOMEM */
    double latch_timeout; /* seconds to wait for a key while another worker reads or writes it; 0: 10 */
    int32_t num_nodes; /* with which the cluster starts; 0 or 1: this is the only one */
    int32_t node; /* the number of this one, from 0 */
    int32_t techniques; /* ps_techniques */
    int32_t reserved2;
    uint64_t cluster; /* a number that all nodes of the cluster have; messages with another one are refused */
    double heartbeat; /* seconds between the signs of life that a node sends to each other node; 0: 0.5, or with more
                       * than 140 nodes so many that 280 are sent in a second */
    double lost_after; /* seconds of silence after which a node is lost, at least 3 heartbeats; 0: 3, or 5 of those */
    int32_t on_loss; /* ps_on_loss */
    int32_t places; /* numbers for nodes, of which those from num_nodes on are for nodes that join later; each is given
                     * once. 0: num_nodes. More need replicas; the same on all nodes */
    int64_t in_flight; /* bytes of keys and values that a worker may have on their way; 0: 64 MiB */
    int32_t server_threads; /* that share a node's keys, as many on each node of a cluster; 0: 1; at most 64 */
    int32_t replicas; /* other nodes that keep a copy of each key: nothing that was acknowledged is lost with as many
                       * nodes. Needs PS_ON_LOSS_CONTINUE, no eviction and no max_age; the same on all
                       * nodes */
    int64_t capacity; /* more than 0: keys may be any numbers but -1, and num_keys is 0. This node has room for so
                       * many keys, whether their values are here or it only remembers where they are: PS_ENOMEM
                       * beyond. With several value_lengths, at most 128, the topmost byte of a key says which of
                       * them its value has, from 0; other numbers are no keys */
    /* What a push does. Null or empty: it adds. Else pushes bring gradients, which the node that has the key applies to
     * its value with this optimizer, for example "adagrad:lr=0.1"; settings that are not named have their defaults.
     * What it keeps for a key starts as zeros, and again when the value is set. Keys that come several times in a push
     * count once, with the sum of their gradients. The optimizers and their settings: pyps/core/store/optimizers. */
    const char *optimizer;
    /* What values begin with, for example "uniform:low=-0.1,high=0.1,seed=7"; null or empty: zeros. It depends on the
     * seed and the key only. The kinds and their settings: pyps/core/store/initializer.cpp. */
    const char *initializer;
    /* Of a table whose keys are texts: by what programs turn these into numbers, "xxh64" (see ps_text_key). It is kept
     * with the table, so that all programs know; the node itself has numbers. Null or empty: keys are numbers. */
    const char *hash;
    /* ps_eviction, only with a capacity: where the capacity or memory_limit is used up, keys of any length go that
     * live where they began, have no replicas and no intents. Their next use makes them anew, from the first
     * value. Only if none can go, there is PS_ENOMEM. The same on all nodes. */
    int32_t eviction;
    int32_t reserved5;
    /* Seconds, at least 0.1 and only with a capacity; 0: none. Keys that were not pulled, pushed or set for so long go
     * by themselves, with PS_EVICT_AGE those that were not pushed or set; at the latest after 1.05 times as long, if
     * the server's threads have processors. Only such keys go as with eviction. The same on all nodes. */
    double max_age;
    /* At most 255, more than 1 only with a capacity; 0 or 1: a key exists from its first use on. Else it exists from
     * the use with this number on, or when it is set. Until then a pull gives its first value, and a push is dropped,
     * with PS_OK; a localize or an intent does nothing. Each call that pulls or pushes the key is a use. The same on
     * all nodes. */
    int32_t admission;
    int32_t reserved6;
    /* How what is pushed to replicas becomes shorter on its way to the keys' owners: "bfloat16", which rounds each
     * element, or "top_k:share=0.1", which sends the largest tenth of the elements of each delta, at least one. What is
     * left out stays at the replica and goes with a later delta, all of it with the last one, and for ps_wait_sync and
     * ps_quiesce. Null, empty or "none": deltas go whole. Only for PS_FLOAT32 and PS_FLOAT64; tables of the node whose
     * dtype is one of these do as it does. The same on all nodes. */
    const char *compression;
} ps_node_options;

typedef struct ps_node_info {
    int64_t num_keys; /* 0: keys may be any numbers */
    int64_t value_length; /* of every key, or 0 if they differ */
    int64_t longest_value; /* elements */
    int64_t total_values; /* elements of all values together; 0: keys may be any numbers */
    int32_t dtype;
    int32_t element_bytes;
    int32_t max_workers;
    int32_t num_workers;
    int32_t num_nodes; /* with which the cluster started */
    int32_t node;
    int32_t places; /* for nodes: their numbers are below */
    int32_t replicas; /* other nodes that keep a copy of each key */
} ps_node_info;

enum ps_member_state {
    PS_MEMBER_HERE = 0,
    PS_MEMBER_LEFT = 1,
    PS_MEMBER_LOST = 2,
    PS_MEMBER_ABSENT = 3 /* there never was one of this number, as far as this node has heard */
};

/* What a node knows about one of its cluster, which may be itself. */
typedef struct ps_member {
    int32_t state; /* ps_member_state */
    int32_t reserved;
    char endpoint[128]; /* empty: unknown */
} ps_member;

typedef struct ps_node_stats {
    int64_t keys_held; /* keys whose value lives on this node */
    int64_t committed_bytes; /* shared memory in use, all of it */
    int64_t directory_bytes; /* of committed_bytes: 8 for each key that began here, and whole pages for others */
    int64_t slab_bytes; /* of committed_bytes: for values */
    int64_t value_bytes; /* of slab_bytes: in use by values */
    int64_t workers; /* that have joined and not ended */
    int64_t workers_joined; /* since the node was created */
    int64_t workers_reclaimed; /* slots of dead workers that were freed */
    int64_t latches_recovered; /* latches taken over from dead workers */
    int64_t values_restored; /* latches_recovered whose value was half written and got its former content back */
    int64_t refused; /* messages that were wrong or not expected; see ps_node_first_refusal */
    int64_t peers_refused; /* connections without the cluster's keys */
    int64_t relocations_in; /* keys that came here from other nodes */
    int64_t relocations_out; /* keys that were handed on to other nodes */
    int64_t replicas_held; /* keys of other nodes that have a replica here, now */
    int64_t replicas_made; /* here, since the node was created */
    int64_t requests_forwarded; /* keys of pulls, pushes and sets that were passed on to another node */
    int64_t intents_active; /* intents of this node's workers that have begun and not ended: calls, not keys. A call
                             * counts once for each server thread that has some of its keys */
    int64_t intents_waiting; /* the same for intents that have not begun */
    int64_t intents_skipped; /* with PS_AUTO, calls, and samples that were prepared */
    int64_t messages_received; /* by this node's server, refused ones too */
    /* keys of intents that stayed where they were, as there was no room, or as admission does not let them exist yet */
    int64_t keys_without_room;
    int64_t operations_pending; /* of living workers: pulls, pushes, sets and localizes on their way to other nodes */
    int64_t nodes_lost; /* as this node sees the cluster */
    int64_t keys_evicted; /* keys that went to make room for others */
    int64_t copies_held; /* keys of other nodes of which this one keeps a copy, with replicas */
    int64_t copy_bytes; /* what they take beside committed_bytes; memory_limit counts both */
    int64_t keys_lacking_copies; /* keys that live here, and get copies again after a loss */
    int64_t keys_expired; /* keys that went because nobody used them for max_age */
    int64_t keys_waiting; /* keys that begin here and were used, but not often enough for admission; about */
    int64_t pushes_dropped; /* pushes of such keys, each key counted */
    int64_t keys_to_take_over; /* keys of lost nodes that are to live here, but do not yet, perhaps for want of room */
} ps_node_stats;

/* What happens to a key on a node. */
enum ps_trace_event_kind {
    PS_TRACE_HERE = 0, /* the key lives here when the trace begins */
    PS_TRACE_RELOCATED_IN = 1, /* the key has come to live here */
    PS_TRACE_RELOCATED_OUT = 2, /* the key leaves for the node `to` */
    PS_TRACE_REPLICA_MADE = 3,
    PS_TRACE_REPLICA_ENDED = 4, /* also when the key itself comes to live here */
    PS_TRACE_INTENT_BEGINS =
        5, /* of the first of this node's workers; a little before that worker's clock gets there */
    PS_TRACE_INTENT_ENDS = 6, /* of the last of this node's workers */
    PS_TRACE_LOCALIZE = 7 /* a worker of this node asked for the key */
};

typedef struct ps_trace_event {
    int64_t time_ns; /* since the beginning of 1970 */
    int64_t key;
    int32_t kind; /* ps_trace_event_kind */
    int32_t to; /* the node that a PS_TRACE_RELOCATED_OUT names, else -1 */
} ps_trace_event;

typedef struct ps_worker_stats {
    int64_t pulls, pushes, sets; /* calls */
    int64_t keys_pulled, keys_pushed, keys_set;
    int64_t keys_local; /* of the keys pulled, pushed and set: those whose value was on this node */
    int64_t latch_waits; /* times another worker held a key for longer than a short spin */
    int64_t longest_wait_ns; /* the longest latch wait */
    int64_t keys_remote; /* keys pulled, pushed and set for which a server was asked */
    int64_t keys_pulled_local, keys_pushed_local, keys_set_local; /* keys_local by operation */
    int64_t remote_operations; /* pulls, pushes, sets and localizes that were sent and have ended */
    int64_t remote_wait_ns; /* the times from sending each of these until its last answer was taken, added up */
    int64_t longest_remote_ns; /* the longest of them */
    int64_t localizes; /* calls */
} ps_worker_stats;

/* How long operations took, as counts by length of time: see ps_node_get_latencies. */
enum { PS_LATENCY_COUNTS = 128 };

typedef struct ps_latencies {
    int64_t total_ns; /* of all that were counted */
    int64_t counts[PS_LATENCY_COUNTS]; /* counts[i]: below ps_latency_limit(i), not below the limit before it */
} ps_latencies;

/* What ps_prepare_sample draws. The files in pyps/core/sampling/ say what each scheme and distribution promises. */
typedef struct ps_sampling_options {
    uint64_t size;
    const char *scheme; /* naive, preloc, pool or local */
    const char *distribution; /* uniform, log-uniform or weighted */
    int64_t min, max; /* keys of [min, max) are drawn */
    const double *weights; /* of a weighted distribution, one per key of the range; read during the call only */
    int64_t num_weights;
    uint64_t seed; /* with the same seed the n-th worker of a node draws the same keys in every run */
    int32_t has_seed; /* 0: a seed of the system's choice */
    int32_t with_replacement; /* 0: the keys of one sample are distinct */
    int32_t pool_size; /* for the pool scheme: draws in a pool; 0: 250 */
    int32_t pool_uses; /* for the pool scheme: how often each draw is used; 0: 16 */
} ps_sampling_options;

/* One pull, push or set. Keys whose values are on this node are done at once, all others are sent to other nodes.
 *
 * Before anything is sent, the call waits, also with PS_ASYNC, until
 * - this node's server knows the worker,
 * - no operation of another kind on one of the keys, and no pull into the same buffer, is on its way,
 * - the operation fits into in_flight and the limit of 4096 operations.
 * If the time is over before that (PS_ETIMEDOUT), nothing was sent. Without PS_ASYNC the call then waits for the
 * answers; if the time is over before these came, the operation may have been done already, or may be done later. The
 * message of the error says which of the two it was. `timeout` is for all waits of the call together.
 *
 * `done` counts the keys that are finished: start with 0. After PS_EBUSY pass the same request again, which goes on
 * from there. The caller owns both buffers; when `timestamp` is -1, libps does not use them after the call. */
typedef struct ps_request {
    int32_t operation; /* ps_operation */
    int32_t flags; /* ps_flags */
    const int64_t *keys;
    int64_t num_keys;
    void *values; /* the keys' values one after another, aligned to their element; read only, except by PS_PULL */
    int64_t num_values; /* elements */
    int64_t done;
    int64_t timestamp; /* set by the call: what ps_wait takes, or -1 if nothing is on its way */
    double timeout; /* seconds; 0: 300. Waiting for another worker of this node ends after latch_timeout instead */
} ps_request;

int32_t ps_abi_version(void);
const ps_error *ps_last_error(void); /* of the calling thread; valid until its next failing call; never null */
const char *ps_code_name(int32_t code); /* static text */
int32_t ps_element_bytes(int32_t dtype); /* 0 for an unknown dtype */

/* Nodes. The caller owns a ps_node and frees it with ps_node_free. Workers keep what they need of it, so they may
 * outlive it. The store's memory goes back to the system when the node is shut down and its workers are finalized,
 * whether they are freed or not. ps_node_listen starts to accept other processes of this user; 64 bytes suffice for the
 * address.
 *
 * ps_node_shutdown closes this handle. In the process that created the node it also ends the server: all workers' calls
 * fail from then on, and in a cluster the values that live here are lost. So call ps_node_leave before it, which ends
 * this node's workers and waits until all other nodes have called ps_node_leave as well (PS_ETIMEDOUT: some did not).
 * It does not wait if this process has created another node of the cluster that has not called it. */
int32_t ps_node_create(const ps_node_options *options, ps_node **node);
int32_t ps_node_attach(const char *address, double timeout, ps_node **node); /* timeout in seconds; 0: 10 */
int32_t ps_node_listen(ps_node *node, char *address, size_t capacity);
/* A node of a cluster is created, bound to an endpoint (ps_node_bind), and told the endpoints of all nodes in the order
 * of their numbers (ps_node_connect); then it works. An endpoint has at most 127 bytes: "tcp://127.0.0.1:*" takes a
 * free port (an address that means all interfaces is refused), "ipc://PATH" is a socket of this host, "memory://NAME"
 * is for nodes and workers of one process. */
int32_t ps_load_zmq(const char *path); /* which ZeroMQ library to use; call it before the first node is bound. Null: the
    one that the environment variable PYPS_ZMQ names, else the system's. A process that attaches to a node uses the one
    that PYPS_ZMQ names, else its server's. */
/* Call it before the node is bound. All messages between nodes and workers are then encrypted, and only those of nodes
 * and workers with the cluster's pair of keys are accepted. Keys are in Z85: 40 characters, as zmq_curve_keypair makes
 * them. Processes that attach find both in the node's memory, which only processes of the same user get. */
int32_t ps_node_secure(ps_node *node, const char *public_key, const char *secret_key);
/* Call it before the node is bound. What happens on this node to these keys, or to all keys if num_keys is 0, is
 * recorded from then on. ps_node_take_trace gives the process that created the node the oldest events, also after the
 * node was shut down, and sets `count` to their number. At most 1048576 events are kept; `forgotten` is set to how many
 * older ones were dropped since the last call. */
int32_t ps_node_trace(ps_node *node, const int64_t *keys, int64_t num_keys);
int32_t ps_node_take_trace(ps_node *node, ps_trace_event *events, int64_t capacity, int64_t *count, int64_t *forgotten);
int32_t ps_node_bind(ps_node *node, const char *endpoint, char *bound, size_t capacity);
/* The node can be used from then on. A node that leaves waits only for nodes that it has heard of: where one may leave
 * before another has connected, ps_node_barrier on all of them comes first. */
int32_t ps_node_connect(ps_node *node, const char *const *endpoints, int32_t num_nodes);
/* Instead of ps_node_connect, for a node whose number is num_nodes or more: it becomes a member of a cluster that
 * works. The endpoints of all places are given, empty where there is no node; its own may be empty. PS_ETIMEDOUT: the
 * nodes did not let it in; shut it down then. Seconds; 0: 300. */
int32_t ps_node_join(ps_node *node, const char *const *endpoints, int32_t num_endpoints, double timeout);
/* A number below `places` for a node that is to join, which no node of the cluster gives to another one; in the process
 * that created the node. PS_ESTATE: there is none left. Seconds; 0: 300. */
int32_t ps_node_take_place(ps_node *node, double timeout, int32_t *number);
/* Of a number below `places`. A node that has asked to be let in has an endpoint and is PS_MEMBER_ABSENT. */
int32_t ps_node_get_member(ps_node *node, int32_t number, ps_member *member, size_t bytes);
int32_t ps_node_barrier(ps_node *node,
                        double timeout); /* of all nodes; only in the creator's process; seconds; 0: 300 */
int32_t ps_node_leave(ps_node *node, double timeout); /* seconds; 0: 300 */
/* With replicas, and in the process that created the node: end this node's workers, and hand its keys and those of its
 * tables over to the other nodes, which go on without it. After that, ps_node_shutdown loses nothing. PS_ETIMEDOUT:
 * some keys are still here. PS_ENOMEM: another node has no room for them. In both cases the node serves on, and the
 * call can be repeated. PS_ESTATE: there is no other node. Seconds; 0: 300. */
int32_t ps_node_hand_over(ps_node *node, double timeout);
/* For callers that must not stay in a call for long, for example because they look for signals. From now on a call with
 * this node, or with a worker that is made of it, returns PS_EBUSY when it has waited for other nodes or workers for so
 * many seconds; 0: it waits on, which is the default.
 *
 * To go on, call the function again with the same arguments and what is left of the timeout. Nothing was sent yet,
 * except for a ps_request whose timestamp is 0 or more: that is on its way, and ps_wait waits for it. To give up, call
 * a barrier, ps_wait_sync, ps_quiesce, ps_end_setup or ps_node_leave once more with a short timeout, and ps_abandon for
 * a request. Only one thread at a time may wait in these functions with the same worker. */
int32_t ps_node_set_patience(ps_node *node, double seconds);
/* Only in the process that created the node, and once. Workers of all processes can sample from then on. */
int32_t ps_node_enable_sampling(ps_node *node, const ps_sampling_options *options);
int32_t ps_node_shutdown(ps_node *node); /* idempotent */
int32_t ps_node_is_open(ps_node *node); /* 1 or 0 */
void ps_node_free(ps_node *node); /* shuts down first; null is fine */
int32_t ps_node_get_info(ps_node *node, ps_node_info *info, size_t bytes);
int32_t ps_node_get_stats(ps_node *node, ps_node_stats *stats, size_t bytes);
/* The statistics of all workers that this node has had, added up; setups count here. The longest times are those of the
 * workers whose places no others have taken since. */
int32_t ps_node_get_worker_stats(ps_node *node, ps_worker_stats *stats, size_t bytes);
/* Where the statistics of each node of the cluster can be read, for programs that attach to this node: a URL of at most
 * 115 bytes, which the process that created this node sets once for each number of a node; an empty text before. */
int32_t ps_node_set_metrics(ps_node *node, int32_t number, const char *url);
int32_t ps_node_get_metrics(ps_node *node, int32_t number, char *url, size_t capacity);
/* How long the operations of a kind (ps_operation) took that all workers of this node have done: those that needed
 * another node if `remote` is 1, else those that did not. The former are all counted, from sending until the last
 * answer was taken; of the latter every 61st of each worker. */
int32_t ps_node_get_latencies(ps_node *node, int32_t operation, int32_t remote, ps_latencies *latencies, size_t bytes);
int64_t ps_latency_limit(int32_t count); /* ns; INT64_MAX for the last */
/* For each key the elements of its value and the bytes of its row (see ps_read_rows). */
int32_t ps_node_row_sizes(ps_node *node, const int64_t *keys, int64_t num_keys, int64_t *lengths, int64_t *bytes);
/* Why the first refused message was refused; an empty text if none was. 160 bytes suffice. */
int32_t ps_node_first_refusal(ps_node *node, char *reason, size_t capacity);
/* The optimizer with all its settings as they are now, as ps_node_options::optimizer has it; an empty text if pushes
 * add. 512 bytes suffice. */
int32_t ps_node_get_optimizer(ps_node *node, char *text, size_t capacity);
int32_t ps_read_optimizer(const char *optimizer, char *text, size_t capacity); /* the same for one that no node has */
int32_t ps_node_get_initializer(ps_node *node, char *text, size_t capacity); /* the same for ::initializer; 512 bytes */
int32_t ps_read_initializer(const char *initializer, char *text, size_t capacity);
int32_t ps_read_compression(const char *compression, char *text, size_t capacity); /* of ps_node_options; "": none */
/* Change settings, for example "lr=0.05": at once for all processes of this node, soon for those of all nodes, and
 * everywhere when a barrier is over to which this process comes later. If several nodes change the same setting, one of
 * them wins, the same one everywhere. PS_EINVAL names what is wrong; then nothing changes. */
int32_t ps_node_tune(ps_node *node, const char *settings);
int32_t ps_node_value_length(ps_node *node, int64_t key, int64_t *length);
int32_t ps_node_total_length(ps_node *node, const int64_t *keys, int64_t num_keys, int64_t *total);

/* Named tables of a node that is connected. A table is a node of its own with the same place in the cluster: its keys,
 * values, optimizer and memory are apart from those of the node and of other tables. All processes of all nodes use the
 * same tables. The first that names one makes it, on all nodes; the options are num_keys or capacity, value_lengths,
 * dtype, memory_limit, optimizer, initializer and hash, all others are as for the node. PS_EINVAL: the table is there
 * with other options. With null for options the call waits until some process has made the table.
 *
 * The caller owns the handle `table`, which every function for nodes takes but those that bind, connect, listen or wait
 * for other nodes; its end does not end the table. ps_node_drop_table does, for all: the values are gone, and calls of
 * workers fail with PS_ECLOSED. With replicas, tables are made and dropped by the nodes that are there; else they are
 * made as long as no node was lost or has left, and dropped as long as node 0 is there. They end with their node. All
 * three functions may return PS_EBUSY: see ps_node_set_patience. Seconds; 0: 300. */
int32_t ps_node_table(ps_node *node, const char *name, const ps_node_options *options, double timeout, ps_node **table);
int32_t ps_node_drop_table(ps_node *node, const char *name, double timeout);
/* The names of the tables that work on this node, each followed by a line feed. PS_ESIZE: error.limit bytes are
 * needed. */
int32_t ps_node_table_names(ps_node *node, char *names, size_t capacity);
/* What a table was made with, like "capacity=1000000 lengths=64 dtype=float32": the same for all who use it. It may
 * have been declared and not work yet. PS_ESTATE: there is no such table. 2304 bytes suffice. */
int32_t ps_node_table_options(ps_node *node, const char *name, char *options, size_t capacity);

/* Workers. The caller owns a ps_worker and frees it with ps_worker_free when no thread is inside a call with it. Calls
 * of several threads with one worker run one after another. An intent is for the clocks from `start` up to, not
 * including, `end`; an end of 0 means start + 1. ps_pull_if_local pulls all keys, or none if one of them is not on this
 * node. */
int32_t ps_worker_create(ps_node *node, ps_worker **worker);
/* A worker for work beside the training, for example checkpoints: barriers do not wait for it, and it cannot call
 * them. */
int32_t ps_worker_create_aside(ps_node *node, ps_worker **worker);
int32_t ps_worker_finalize(ps_worker *worker); /* leaves the node; idempotent; from any thread. Operations that are on
    their way (see ps_pending) may be lost */
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

/* Rows: a key's value and, from the next multiple of 8 bytes on, what the optimizer keeps for it. Both functions use
 * the keys that live on this node, not replicas, and set here[i] to 1 for these and to 0 for others, whose rows they
 * pass over. `rows` has the rows of all keys one after another; null: only `here` is wanted. Each row is read and
 * written as a whole: a push, set or relocation of its key comes before or after it. What is written is sent to
 * replicas. */
int32_t ps_read_rows(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *rows, int64_t bytes,
                     uint8_t *here);
int32_t ps_write_rows(ps_worker *worker, const int64_t *keys, int64_t num_keys, const void *rows, int64_t bytes,
                      uint8_t *here);
/* The next keys of this node (see ps_keys). Begin with *next = 0, and call it again, with the same `next`, until
 * `count` is less than `capacity`. A key that is there all the time is named exactly once. Keys that come, go or are
 * made meanwhile may be among them or not. */
int32_t ps_find_keys(ps_worker *worker, int32_t which, int64_t *next, int64_t *keys, int64_t capacity, int64_t *count);

/* Whether keys have rows anywhere, and the end of their rows. Where keys may be any numbers, a key has a row from its
 * first use on; keys of a range always have one. `found` and `deleted` have a byte per key, 1 if it has a row and if it
 * has lost one now, else 0. They are complete when the operation `timestamp` has ended (-1: it has), and must live
 * until then or until it is abandoned. Neither makes rows. ps_delete forgets the value of each key and what the
 * optimizer keeps for it, on all nodes, and gives their memory back; the next use makes the key anew. An intent that
 * still has the key counts as such a use. What was acknowledged before the call is gone with the row, what begins after
 * its end is not. PS_EINVAL: the keys are of a range. */
int32_t ps_contains(ps_worker *worker, const int64_t *keys, int64_t num_keys, uint8_t *found, int64_t *timestamp);
int32_t ps_delete(ps_worker *worker, const int64_t *keys, int64_t num_keys, uint8_t *deleted, int64_t *timestamp);

/* The key that stands for a text: XXH64 of its bytes with seed 0, where -1 becomes 0. */
int64_t ps_text_key(const char *text, size_t bytes);

/* to[i] = from[i] - first, for clients whose first key is `first` instead of 0. `to` and `from` must not overlap. */
void ps_shift_keys(int64_t *to, const int64_t *from, int64_t num_keys, int64_t first);

int32_t ps_localize(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t *timestamp);
int32_t ps_intent(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t start, int64_t end);
/* A sample of n keys for the clocks [start, end), as in ps_intent. It may be pulled in parts: ps_pull_sample takes the
 * next num_keys keys, writes them to `keys` and their values to `values`, which may be larger than needed; unless it
 * returns PS_OK it has taken no keys. A sample is finished when all its keys were pulled, or by ps_finish_sample, which
 * may be called more than once. PS_NOWAIT and PS_ASYNC are as for ps_run; `timestamp` may be null. */
int32_t ps_prepare_sample(ps_worker *worker, int64_t n, int64_t start, int64_t end, int64_t *id);
int32_t ps_pull_sample(ps_worker *worker, int64_t id, int64_t *keys, int64_t num_keys, void *values, int64_t num_values,
                       int32_t flags, int64_t *timestamp);
int32_t ps_finish_sample(ps_worker *worker, int64_t id);

int32_t ps_advance_clock(ps_worker *worker, int64_t *clock); /* sets the new clock; may be null */
int32_t ps_current_clock(ps_worker *worker, int64_t *clock);

int32_t ps_wait(ps_worker *worker, int64_t timestamp, double timeout); /* seconds; 0: 300 */
int32_t ps_is_finished(ps_worker *worker, int64_t timestamp, int32_t *finished);
/* Of the last pull, push, set, localize or pull of a sample, also one that the call has waited for; -1 if it needed no
 * other node. */
int32_t ps_last_timestamp(ps_worker *worker, int64_t *timestamp);
/* The caller needs its buffer: a pull that is on its way does not write to it after this call. A push or set is still
 * done when its messages arrive. */
int32_t ps_abandon(ps_worker *worker, int64_t timestamp);
int32_t ps_wait_all(ps_worker *worker, double timeout);
int32_t ps_pending(ps_worker *worker,
                   int64_t *operations); /* how many have not ended as far as this worker knows; never waits */
/* Wait until the operations of this worker have ended, the keys of its intents that have begun are here, everything
 * that was pushed to replicas on this node is part of their owners' values, and the replicas here have the values that
 * the owners had at the time of the call. */
int32_t ps_wait_sync(ps_worker *worker, double timeout);
/* The same without waiting for the network, for workers that call it after each batch: an exchange of what was pushed
 * to replicas on this node begins, and the call waits until the exchange is over that began `behind` calls before, at
 * least 1. Operations and keys that are on their way are not waited for. */
int32_t ps_follow_sync(ps_worker *worker, int64_t behind, double timeout);
/* Wait until this node has nothing on its way: operations of this worker, keys, replicas, and pushes to replicas. After
 * workers of all nodes have called it, and if none has done anything meanwhile, nothing is on its way anywhere. */
int32_t ps_quiesce(ps_worker *worker, double timeout);
/* Between ps_begin_setup and ps_end_setup, while initial values are written, intents of this worker do nothing yet and
 * its statistics count nothing. ps_end_setup calls ps_wait_sync and ps_barrier, and then both once more. */
int32_t ps_begin_setup(ps_worker *worker);
int32_t ps_end_setup(ps_worker *worker, double timeout);
/* Wait until all workers of all nodes have called it. A node with num_workers first waits until so many have joined.
 * Workers that are finalized or die, and nodes without workers, are not waited for. Seconds; 0: 300. */
int32_t ps_barrier(ps_worker *worker, double timeout);

/* ---- declarations for ffi.cdef: end ---- */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
