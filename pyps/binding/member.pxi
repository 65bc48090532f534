# The class Member: a node as one of a cluster, with plain Python arguments.
cdef class Endpoints:
    """The endpoints of nodes as ps.h takes them, while this object lives."""

    def __cinit__(self, endpoints):
        cdef int i
        if isinstance(endpoints, str) or not isinstance(endpoints, Iterable):
            raise TypeError(f"endpoints must be a list with one for each node, not {type(endpoints).__name__}")
        self.texts = [encoded(endpoint, "endpoint") for endpoint in endpoints]
        self.count = <int32_t> len(self.texts)
        self.pointers = <const char **> malloc((self.count + 1) * sizeof(char *))
        if self.pointers == NULL:
            raise MemoryError
        for i in range(self.count):
            self.pointers[i] = self.texts[i]

    def __dealloc__(self):
        free(self.pointers)


cdef class Member:
    """A node's part in its cluster."""

    def __dealloc__(self):
        with nogil:
            ps_node_free(self.node)

    @property
    def num_nodes(self):
        """How many nodes the cluster started with; `members` says which there are now."""
        return self.info.num_nodes

    @property
    def rank(self):
        """This node's number, from 0."""
        return self.info.node

    @property
    def places(self):
        """How many nodes the cluster can ever have had: their numbers are below."""
        return self.info.places

    @property
    def replicas(self):
        """How many other nodes keep a copy of each key, so that as many may be lost."""
        return self.info.replicas

    @property
    def members(self):
        """The numbers of the nodes that are there now, as this one sees it: a list of int, sorted."""
        return [number for number in range(self.info.places) if self.member(number).state == PS_MEMBER_HERE]

    def endpoints(self):
        """Return where the nodes listen, as a list of str by number; empty for those that are not there."""
        cdef list found = []
        cdef ps_member member
        for number in range(self.info.places):
            member = self.member(number)
            found.append(member.endpoint.decode() if member.state == PS_MEMBER_HERE else "")
        return found

    def free_places(self):
        """Return the numbers that no node has or had, as far as this one knows: a list of int, sorted."""
        cdef list found = []
        cdef ps_member member
        for number in range(self.info.places):
            member = self.member(number)
            if member.state == PS_MEMBER_ABSENT and not member.endpoint[0]:
                found.append(number)
        return found

    def take_place(self, timeout=None):
        """Return a number of `free_places` for a node that is to join; no node of the cluster gives it to another.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for the other nodes; default 300.

        Raises
        ------
        RuntimeError
            The cluster has had nodes for all of its places.
        ValueError
            This process has not created the node.
        """
        cdef Wait wait
        cdef int32_t number = 0, code = PS_EBUSY
        limit(&wait, timeout, True)
        while prepare_call(&wait, code):
            with nogil:
                code = ps_node_take_place(self.node, wait.left, &number)
        check(code)
        return number

    cdef ps_member member(self, int32_t number) except *:
        cdef ps_member found
        check(ps_node_get_member(self.node, number, &found, sizeof(found)))
        return found

    def secure(self, public, secret):
        """Encrypt all messages with this pair of CURVE keys, and refuse others without it; call it before `bind`."""
        check(ps_node_secure(self.node, encoded(public, "public key"), encoded(secret, "secret key")))

    def bind(self, endpoint):
        """Bind an endpoint, at which other nodes reach this one; return it with the chosen port or name.

        An endpoint is "tcp://HOST:PORT", where ``*`` means a free port; "ipc://PATH", a socket of this host; or
        "memory://NAME", for nodes and workers (threads) of this process only, where ``*`` means a free name.
        """
        cdef char bound[128]
        check(ps_node_bind(self.node, encoded(endpoint, "endpoint"), bound, sizeof(bound)))
        return bound.decode()

    def connect(self, endpoints):
        """Begin to work with the other nodes. `endpoints` has those of the first `num_nodes`, by number.

        A shutdown waits only for nodes that this one has heard of: where a node may end before another has connected,
        all of them call `barrier` first, as `pyps.init` does.
        """
        cdef Endpoints given = Endpoints(endpoints)
        check(ps_node_connect(self.node, given.pointers, given.count))

    def join(self, endpoints, timeout=None):
        """Become a member of a cluster that works, instead of `connect`, with a rank of `num_nodes` or more.

        Parameters
        ----------
        endpoints : sequence of str, of length `places`
            Those of the members, by number, as `endpoints` of one of them returns them; this node's own may be empty.
        timeout : float, optional
            Seconds; default 300.

        Raises
        ------
        WaitTimeoutError
            The members did not let it in. Shut the node down; another one can try with another rank.
        """
        cdef Endpoints given = Endpoints(endpoints)
        cdef Wait wait
        cdef int32_t code = PS_EBUSY
        limit(&wait, timeout, True)
        while prepare_call(&wait, code):
            with nogil:
                code = ps_node_join(self.node, given.pointers, given.count, wait.left)
        check(code)

    def barrier(self, timeout=None):
        """Wait until every node has come to a barrier, each in the process that created it.

        Parameters
        ----------
        timeout : float, optional
            Seconds; default 300.

        Raises
        ------
        WaitTimeoutError
            Some nodes did not come in time. This node has left the barrier.
        """
        self.patiently(ps_node_barrier, timeout)

    def hand_over(self, timeout=None):
        """Hand this node's keys over to the other nodes: see `pyps.Server.leave`."""
        self.patiently(ps_node_hand_over, timeout)

    cdef int patiently(self, NodeWait call, object timeout) except -1:
        """Wait for other nodes with `call`. If that fails, call it once more, to give the wait up in the core."""
        cdef Wait wait
        cdef int32_t code = PS_EBUSY
        limit(&wait, timeout, True)
        try:
            while prepare_call(&wait, code):
                with nogil:
                    code = call(self.node, wait.left)
            return check(code)
        except BaseException:
            if code == PS_EBUSY:
                with nogil:
                    call(self.node, shortest)
            raise

    def set_metrics_address(self, node, address):
        """Tell programs that attach where the statistics of a node can be read over HTTP; once for each node."""
        check(ps_node_set_metrics(self.node, node, encoded(address, "address")))

    def metrics_addresses(self):
        """Return where the statistics of each node can be read over HTTP, as a list of str: empty if unknown."""
        cdef char url[128]
        cdef list found = []
        for node in range(self.info.places):
            check(ps_node_get_metrics(self.node, node, url, sizeof(url)))
            found.append(url.decode())
        return found
