# The class Node: a node's store in shared memory, with plain Python arguments.
cdef class Node(Member):
    """A node's store, created by this process or attached to.

    Parameters
    ----------
    address : str, optional
        Attach to the server at this address; then all other parameters but `timeout` are ignored.
    beside : Node, optional
        Be the named table of this node that is called `name`; made if there is none and `value_lengths` is given. Then
        only the keys, values, `dtype`, `memory_limit`, `optimizer`, `initializer`, `eviction`, `max_age`,
        `admission` and `hash` count.
    name : str
    num_keys : int
        The keys are [0, num_keys). If it is 0, keys may be any numbers, and `capacity` is how many there is room for.
    capacity : int
    value_lengths : contiguous int64 buffer
        One length for all keys; one for each; or, with `capacity`, one for each class of keys.
    dtype : pyps.dtypes.Dtype
    max_workers, num_workers, memory_limit : int
    latch_timeout, timeout : float
        Seconds.
    num_nodes, rank, techniques, cluster, on_loss, in_flight, server_threads, replicas, places : int
        See `pyps.Server`; the last seven only matter in a cluster.
    heartbeat, lost_after : float
        Seconds.
    optimizer : str
        As ps_node_options has it; empty if pushes add.
    initializer : str
        As ps_node_options has it; empty where values begin as zeros.
    hash : str
        Of a table whose keys are texts; empty where they are numbers.
    eviction : int
        As ps_node_options has it.
    max_age : float, optional
        Seconds.
    admission : int
        As ps_node_options has it.
    compression : str
        As ps_node_options has it; empty if deltas go whole. A table's is that of its node.
    """

    def __init__(self, address=None, *, num_keys=0, capacity=0, value_lengths=None, dtype=None, max_workers=0,
                 num_workers=0, memory_limit=0, latch_timeout=None, timeout=None, num_nodes=1, rank=0, techniques=0,
                 cluster=0, heartbeat=None, lost_after=None, on_loss=0, in_flight=0, server_threads=1,
                 replicas=0, places=0, optimizer="", initializer="", eviction=0, max_age=None, admission=0, hash="",
                 compression="", Node beside=None, name=""):
        cdef ps_node_options options
        cdef Span lengths
        cdef int32_t code
        cdef bytes where
        cdef const char *text
        cdef bytes rule = encoded(optimizer, "optimizer")
        cdef bytes first = encoded(initializer, "initializer")
        cdef bytes of_texts = encoded(hash, "hash")
        cdef bytes shorter = encoded(compression, "compression")
        cdef bytes table = encoded(name, "name")
        cdef const char *called = table
        cdef const ps_node_options *wanted = &options
        cdef Wait wait
        cdef double patience = seconds(timeout)
        from pyps.dtypes import DTYPES

        if self.node != NULL:
            raise RuntimeError("a node is initialized once")
        if address is not None:
            where = encoded(address, "address")
            text = where
            with nogil:
                code = ps_node_attach(text, patience, &self.node)
        else:
            memset(&options, 0, sizeof(options))
            options.size = sizeof(options)
            options.num_keys = whole(num_keys, "num_keys", INT64_MAX)
            options.capacity = whole(capacity, "capacity", INT64_MAX)
            options.dtype = dtype.number
            options.max_workers = <int32_t> whole(max_workers, "max_workers", INT32_MAX)
            options.num_workers = <int32_t> whole(num_workers, "num_workers", INT32_MAX)
            options.memory_limit = whole(memory_limit, "memory_limit", INT64_MAX)
            options.optimizer = rule
            options.initializer = first
            options.hash = of_texts
            options.eviction = eviction
            options.max_age = seconds(max_age, "max_age")
            options.admission = <int32_t> whole(admission, "admission", INT32_MAX)
            if beside is None:
                options.compression = shorter
                options.latch_timeout = seconds(latch_timeout, "latch_timeout")
                options.num_nodes = <int32_t> whole(num_nodes, "num_nodes", INT32_MAX)
                options.node = <int32_t> whole(rank, "rank", INT32_MAX)
                options.techniques = techniques
                options.cluster = number_of(cluster, "cluster")
                options.heartbeat = seconds(heartbeat, "heartbeat")
                options.lost_after = seconds(lost_after, "lost_after")
                options.on_loss = on_loss
                options.in_flight = whole(in_flight, "in_flight", INT64_MAX)
                options.server_threads = <int32_t> whole(server_threads, "server_threads", INT32_MAX)
                options.replicas = <int32_t> whole(replicas, "replicas", INT32_MAX)
                options.places = <int32_t> whole(places, "places", INT32_MAX)
            memset(&lengths, 0, sizeof(lengths))
            if value_lengths is not None:
                open_keys(value_lengths, &lengths)
            elif beside is not None:
                wanted = NULL
            options.value_lengths = <const int64_t *> lengths.data
            options.num_lengths = lengths.elements
            try:
                if beside is None:
                    with nogil:
                        code = ps_node_create(&options, &self.node)
                else:
                    limit(&wait, timeout, True)
                    code = PS_EBUSY
                    while prepare_call(&wait, code):
                        with nogil:
                            code = ps_node_table(beside.node, called, wanted, wait.left, &self.node)
            finally:
                close_span(&lengths)
        check(code)
        check(ps_node_set_patience(self.node, signals_every))
        check(ps_node_get_info(self.node, &self.info, sizeof(self.info)))
        self.dtype = next(row for row in DTYPES.values() if row.number == self.info.dtype)

    @property
    def num_keys(self):
        """Keys are in [0, num_keys); None if they may be any numbers."""
        return self.info.num_keys or None

    @property
    def value_length(self):
        """Elements of every key's value; None if they differ."""
        return self.info.value_length or None

    @property
    def total_values(self):
        """Elements of all values together; 0 if keys may be any numbers."""
        return self.info.total_values

    @property
    def max_workers(self):
        """How many workers there may be at the same time."""
        return self.info.max_workers

    @property
    def is_open(self):
        """Whether the server has not been shut down."""
        return bool(ps_node_is_open(self.node))

    @property
    def handle(self):
        """The address of the ps_node, for other users of ps.h in this process while this object lives."""
        return <uintptr_t> self.node

    def optimizer_text(self):
        """Return the optimizer with its settings as they are now, like "adagrad:lr=0.1"; empty if pushes add."""
        cdef char text[512]
        check(ps_node_get_optimizer(self.node, text, sizeof(text)))
        return text.decode()

    def initializer_text(self):
        """Return what values begin with, like "normal:mean=0,std=0.1,seed=0"; empty for zeros."""
        cdef char text[512]
        check(ps_node_get_initializer(self.node, text, sizeof(text)))
        return text.decode()

    def tune(self, settings):
        """Change settings of the optimizer, for example "lr=0.05"."""
        check(ps_node_tune(self.node, encoded(settings, "settings")))

    def total_length(self, keys):
        """Return how many elements the values of the keys have together."""
        cdef Span span
        cdef int64_t total = 0
        cdef int32_t code
        open_keys(keys, &span)
        code = ps_node_total_length(self.node, <const int64_t *> span.data, span.elements, &total)
        close_span(&span)
        check(code)
        return total

    def row_sizes(self, keys, lengths, nbytes):
        """Fill two int64 buffers: for each key the elements of its value, and the bytes of its row."""
        cdef Span k, a, b
        cdef int32_t code
        memset(&a, 0, sizeof(a))
        memset(&b, 0, sizeof(b))
        open_keys(keys, &k)
        try:
            open_plain(lengths, True, INTEGER, 64, &a)
            open_plain(nbytes, True, INTEGER, 64, &b)
            if a.elements != k.elements or b.elements != k.elements:
                raise ValueError(f"{k.elements} keys need as many lengths and sizes, not {a.elements} and {b.elements}")
            code = ps_node_row_sizes(self.node, <const int64_t *> k.data, k.elements, <int64_t *> a.data,
                                     <int64_t *> b.data)
        finally:
            close_span(&k)
            close_span(&a)
            close_span(&b)
        check(code)

    def listen(self):
        """Let other processes attach from now on; return the address for them."""
        cdef char address[128]
        check(ps_node_listen(self.node, address, sizeof(address)))
        return address.decode()

    def enable_sampling(self, scheme, distribution, first, stop, *, with_replacement, weights=None, seed=None,
                        pool_size=0, pool_uses=0):
        """Let workers draw samples of keys from [first, stop); `weights` is a contiguous float64 buffer or None."""
        cdef ps_sampling_options options
        cdef Span span
        cdef int32_t code
        cdef bytes scheme_name = encoded(scheme, "scheme"), distribution_name = encoded(distribution, "distribution")
        memset(&options, 0, sizeof(options))
        options.size = sizeof(options)
        options.scheme = scheme_name
        options.distribution = distribution_name
        options.min = whole(first, "min", INT64_MAX)
        options.max = whole(stop, "max", INT64_MAX)
        options.with_replacement = bool(with_replacement)
        options.has_seed = seed is not None
        options.seed = operator.index(seed or 0) & UINT64_MAX
        options.pool_size = <int32_t> whole(pool_size, "pool_size", INT32_MAX)
        options.pool_uses = <int32_t> whole(pool_uses, "pool_uses", INT32_MAX)
        span.exported = False
        if weights is not None:
            if not open_typed(weights, False, FLOAT, 64, &span):
                raise TypeError("weights must be contiguous float64")
            options.weights = <const double *> span.data
            options.num_weights = span.elements
        with nogil:
            code = ps_node_enable_sampling(self.node, &options)
        close_span(&span)
        check(code)

    def drop_table(self, name, timeout=None):
        """End a named table on all nodes: its values are gone, and calls of its workers raise ClosedError.

        Parameters
        ----------
        name : str
        timeout : float, optional
            Seconds to wait for the other nodes and this node's own part; default 300.

        Raises
        ------
        RuntimeError
            There is no such table.
        NodeLost
            The server has no replicas, and node 0 was lost or has left, by way of which tables are dropped.
        """
        cdef Wait wait
        cdef int32_t code = PS_EBUSY
        cdef bytes table = encoded(name, "name")
        cdef const char *called = table
        limit(&wait, timeout, True)
        while prepare_call(&wait, code):
            with nogil:
                code = ps_node_drop_table(self.node, called, wait.left)
        check(code)

    def table_names(self):
        """Return the names of the tables that work on this node, sorted, as a list of str."""
        cdef size_t room = 4096
        cdef bytearray names
        cdef char *at
        cdef int32_t code = PS_ESIZE
        while code == PS_ESIZE:
            names = bytearray(room)
            at = names
            with nogil:
                code = ps_node_table_names(self.node, at, room)
            room *= 2
        check(code)
        return names.split(b"\0", 1)[0].decode().split()

    def table_options(self, name):
        """Return what a named table was made with, like "capacity=1000000 lengths=64 dtype=float32".

        Raises
        ------
        RuntimeError
            There is no such table.
        """
        cdef char text[2304]
        cdef bytes table = encoded(name, "name")
        cdef const char *called = table
        cdef int32_t code
        with nogil:
            code = ps_node_table_options(self.node, called, text, sizeof(text))
        check(code)
        return text.decode()

    def shutdown(self, timeout=None):
        """Close this handle; in the process that created the node, also the node itself. May be called again.

        `pyps.Server.shutdown` describes how the nodes of a cluster wait for each other.
        """
        seconds(timeout)
        try:
            if self.node != NULL and (timeout is None or timeout > 0):
                self.patiently(ps_node_leave, timeout)
        finally:
            with nogil:
                ps_node_shutdown(self.node)

    def stats(self):
        """Return this node's statistics, as a dict of int.

        Returns
        -------
        dict of str to int
            Now: `keys_held`, keys that live on this node; `replicas_held`, keys of other nodes with a replica here;
            `committed_bytes`, all shared memory in use, of which `directory_bytes` and `slab_bytes` are parts: the
            latter is for values, which use `value_bytes` of it; `workers`; `intents_active`, calls of `intent` that
            have begun and not ended, and `intents_waiting`, those that have not begun; `operations_pending`, pulls,
            pushes, sets and localizes of living workers that are on their way to other nodes; `nodes_lost`. With
            replicas: `copies_held`, keys of other nodes of which this one keeps a copy; `copy_bytes`, what these take
            beside `committed_bytes`; `keys_lacking_copies`, keys here that get copies again after a loss;
            `keys_to_take_over`, keys of lost nodes that are to live here, but do not yet, perhaps for want of room.
            With `admission`: `keys_waiting`, about how many keys of this home are counted and do not exist yet.

            Since the node was created: `relocations_in` and `relocations_out`, keys that came from other nodes and
            went to them; `replicas_made` here; `requests_forwarded`, keys of pulls, pushes and sets that were passed
            on to another node; `intents_skipped`, calls of `intent` and `prepare_sample` that did nothing as that is
            faster (`techniques="auto"`); `messages_received` by this node's server; `keys_without_room`, keys of
            intents that stayed where they were because there was no room, or because of `admission`; `keys_evicted`,
            keys that went to make room for others; `keys_expired`, keys that went because nobody used them for
            `max_age`; `pushes_dropped`, keys of pushes to which nothing was done because of `admission`; `refused`,
            messages that were wrong or not expected; `peers_refused`, connections without the cluster's CURVE keys;
            `workers_joined`. After workers died: `workers_reclaimed`, their slots that were freed; `latches_recovered`;
            `values_restored`, values that they had half written and that got their former content back.
        """
        cdef ps_node_stats stats
        check(ps_node_get_stats(self.node, &stats, sizeof(stats)))
        return stats

    def worker_stats(self):
        """Return the statistics of all workers that this node has had, added up, as a dict of int.

        The names are those of `Worker.stats`. What workers did before they ended or were killed stays counted, and so
        does what they did in setups. `longest_wait_ns` and `longest_remote_ns` are those of the workers whose places no
        others have taken since.
        """
        cdef ps_worker_stats stats
        check(ps_node_get_worker_stats(self.node, &stats, sizeof(stats)))
        return stats

    def latency_counts(self, operation, remote):
        """Return the time of all counted operations of a kind in ns, and how many took how long, as a list of int.

        The kinds are 0 to 3: pull, push, set, localize; `latency_limits` says which count is of which times.
        """
        cdef ps_latencies found
        check(ps_node_get_latencies(self.node, operation, remote, &found, sizeof(found)))
        return found.total_ns, [found.counts[i] for i in range(PS_LATENCY_COUNTS)]

    def begin_trace(self, keys):
        """Record from now on what happens on this node to these keys, an int64 buffer; to all keys if it is empty."""
        cdef Span span
        cdef int32_t code
        open_keys(keys, &span)
        code = ps_node_trace(self.node, <const int64_t *> span.data, span.elements)
        close_span(&span)
        check(code)

    def take_trace(self):
        """Return the events since the last call, as tuples of ns, key, kind and node, and how many were dropped."""
        cdef ps_trace_event batch[1024]
        cdef int64_t count = 1024, forgotten = 0, lost = 0
        cdef list events = []
        while count == 1024:
            with nogil:
                code = ps_node_take_trace(self.node, batch, 1024, &count, &forgotten)
            check(code)
            lost += forgotten
            events.extend([(batch[i].time_ns, batch[i].key, batch[i].kind, batch[i].to) for i in range(count)])
        return events, lost

    def first_refusal(self):
        """Return why the first refused message was refused; an empty text if none was."""
        cdef char reason[160]
        check(ps_node_first_refusal(self.node, reason, sizeof(reason)))
        return reason.decode("utf-8", "replace")
