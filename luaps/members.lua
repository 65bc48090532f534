-- A node as one of a cluster: how it meets the others. Adds methods to Node.
local ffi = require 'ffi'
local C = require 'luaps.library'
local errors = require 'luaps.errors'
local waiting = require 'luaps.waiting'

local check = errors.check
local ENDPOINT_BYTES = 128
local HERE, ABSENT = tonumber(C.PS_MEMBER_HERE), tonumber(C.PS_MEMBER_ABSENT)

local members = {}

-- The endpoints for ps.h, which the table keeps alive.
local function texts(endpoints)
   if type(endpoints) ~= 'table' then
      errors.raise('endpoints must be a table of strings, got %s', errors.shown(endpoints))
   end
   local pointers = ffi.new('const char *[?]', #endpoints + 1)
   for i, endpoint in ipairs(endpoints) do
      if type(endpoint) ~= 'string' then
         errors.raise('endpoints must be strings; got %s at position %d', errors.shown(endpoint), i)
      end
      pointers[i - 1] = endpoint
   end
   return pointers
end

function members.add(Node)
   -- With several nodes: call `bind` on each node with an endpoint of its own ("tcp://HOST:PORT", "ipc://PATH", or
   -- "memory://NAME" if all nodes and workers are in this process). It returns the endpoint that is in use. Then call
   -- `connect` on each node with the endpoints of the first num_nodes in the order of their ranks; the node can be used
   -- from then on. `shutdown` waits only for nodes that this one has heard of: where one may end before another has
   -- connected, call `barrier` first.
   function Node:bind(endpoint)
      if type(endpoint) ~= 'string' then
         errors.raise("endpoint must be a string like 'tcp://127.0.0.1:*', got %s", errors.shown(endpoint))
      end
      check(C.ps_load_zmq(nil))
      local bound = ffi.new('char[?]', ENDPOINT_BYTES)
      check(C.ps_node_bind(self.handle, endpoint, bound, ENDPOINT_BYTES))
      return ffi.string(bound)
   end

   function Node:connect(endpoints)
      check(C.ps_node_connect(self.handle, texts(endpoints), #endpoints))
   end

   -- Become a member of a cluster that works, instead of `connect`, with a rank of num_nodes or more. `endpoints` are
   -- those of the members, as :endpoints of one of them returns them, and this node's own at position rank + 1.
   -- `timeout`: seconds until the members must have let it in, default 300.
   function Node:join(endpoints, timeout)
      local pointers = texts(endpoints)
      check(waiting.stay(self.handle, waiting.limit(timeout), function(handle, left)
         return C.ps_node_join(handle, pointers, #endpoints, left)
      end))
   end

   -- Wait until every node has come to a barrier; the process that created the node has to call this. `timeout` in
   -- seconds.
   function Node:barrier(timeout)
      check(waiting.stay(self.handle, waiting.limit(timeout), C.ps_node_barrier))
   end

   -- The number of nodes with which the cluster started, and the rank of this one, counted from 0.
   function Node:num_nodes()
      return self.info.num_nodes
   end

   function Node:rank()
      return self.info.node
   end

   local function known(self, rank)
      local member = ffi.new('ps_member')
      check(C.ps_node_get_member(self.handle, rank, member, ffi.sizeof(member)))
      return member.state, ffi.string(member.endpoint)
   end

   -- The ranks of the nodes that are there now, sorted.
   function Node:members()
      local ranks = {}
      for rank = 0, self.info.places - 1 do
         if known(self, rank) == HERE then
            ranks[#ranks + 1] = rank
         end
      end
      return ranks
   end

   -- Where the nodes listen, at position rank + 1 each; '' for those that are not there.
   function Node:endpoints()
      local found = {}
      for rank = 0, self.info.places - 1 do
         local state, endpoint = known(self, rank)
         found[rank + 1] = state == HERE and endpoint or ''
      end
      return found
   end

   -- The lowest rank that no node has or had, as far as this one knows; nil if there is none.
   function Node:free_place()
      for rank = 0, self.info.places - 1 do
         local state, endpoint = known(self, rank)
         if state == ABSENT and endpoint == '' then
            return rank
         end
      end
   end

   -- A free rank for a node that is to join, which no node of the cluster gives to another one. It raises an error if
   -- there is none. `timeout`: seconds to wait for the other nodes, default 300.
   function Node:take_place(timeout)
      check(C.ps_load_zmq(nil))
      local rank = ffi.new('int32_t[1]')
      check(waiting.stay(self.handle, waiting.limit(timeout), function(handle, left)
         return C.ps_node_take_place(handle, left, rank)
      end))
      return rank[0]
   end
end

return members
