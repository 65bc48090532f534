-- ipc.Tree: processes connected as a tree, which reduce values up to node 1 and map the result down again.
local torch = require 'torch'
local client_of = require 'ipc.client'
local server_of = require 'ipc.server'
local binary = require 'ipc.links'
local walkTable = require('ipc.utils').walkTable

-- The next value of a connection, which must be a table with a certain field of a type.
local function expect(connection, field, kind)
   local message = connection:recv()
   if type(message) ~= 'table' or type(message[field]) ~= kind then
      error(string.format('ipc.Tree: %s does not speak as a node of a tree does', connection.peer), 0)
   end
   return message
end

-- Find the places of all nodes, and tell each node whom to connect to and how many will come to it.
local function arrange(self, host, port, base, link)
   local places = {[1] = {nodeIndex = 1, host = host, port = port}}
   self.server:clients(self.numNodes - 1, function(client)
      local message = expect(client, 'nodeIndex', 'number')
      local index = message.nodeIndex
      if index < 2 or index > self.numNodes or index ~= math.floor(index) or places[index] then
         error(string.format('ipc.Tree: %s says that it is node %s of %d, which is %s', client.peer, index,
            self.numNodes, places[index] and 'there already' or 'none'), 0)
      end
      client:id(index)
      places[index] = {nodeIndex = index, host = message.host, port = message.port}
   end)
   local tree = {}
   for index = 1, self.numNodes do
      tree[index] = {listen = 0}
   end
   local depth = math.ceil(math.log(self.numNodes) / math.log(base)) - 1
   link(base, self.numNodes, 0, depth, function(parent, child)
      tree[child].connect = places[parent]
      tree[parent].listen = tree[parent].listen + 1
   end)
   self.server:broadcast(tree)
   self.server:clients(function(client)
      if tree[client:id()].connect.nodeIndex ~= 1 then
         client:close() -- it has another parent
      end
   end)
end

-- Tell node 1 where this node is, and take the place that it gives.
local function join(self, host, port)
   self.server, port = server_of(host, port)
   self.client:send{nodeIndex = self.nodeIndex, host = host, port = port}
   local node = self.client:recv()[self.nodeIndex]
   if node.connect.nodeIndex ~= 1 then
      self.client:close()
      self.client = client_of(node.connect.host, node.connect.port)
      self.client:send{order = self.nodeIndex}
   end
   if node.listen == 0 then
      self.server:close()
      self.server = nil
      return
   end
   self.server:clients(node.listen, function(child)
      child:id(expect(child, 'order', 'number').order)
   end)
end

-- No node starts before all are there.
local function start(self)
   if self.client and self.client:recv() ~= 'start?' then
      error('ipc.Tree: ' .. self.client.peer .. ' does not speak as a node of a tree does', 0)
   end
   if self.server then
      self.server:clients(function(child)
         child:send('start?')
         if child:recv() ~= 'start' then
            error('ipc.Tree: ' .. child.peer .. ' does not speak as a node of a tree does', 0)
         end
      end)
   end
   if self.client then
      self.client:send('start')
   end
end

local function leave(self)
   if self.server then
      self.server:close()
   end
   if self.client then
      self.client:close()
   end
end

-- Run f. If it fails this node is out of step with the others: they are left, so that none of them waits for it.
local function together(self, f, ...)
   local function finish(ok, ...)
      if not ok then
         leave(self)
         error((...), 0)
      end
      return ...
   end
   return finish(pcall(f, self, ...))
end

-- Room to receive what is added to a tensor: one buffer for each type.
local function room(self, value)
   if not torch.isTensor(value) then
      return nil
   end
   local name = torch.type(value)
   self.buffers[name] = self.buffers[name] or value.new()
   return self.buffers[name]:resizeAs(value)
end

local function sendall(connection, value)
   walkTable(value, function(each)
      connection:send(each)
   end)
end

local function receiveall(connection, value)
   walkTable(value, function(each)
      return connection:recv(each)
   end)
end

-- Once up and down the tree: how many nodes have come to their end.
local function round(self, value, reduce, finished)
   if self.server then -- the shortest branch first
      self.server:clients(function(child)
         walkTable(value, function(each)
            return reduce(each, child:recv(room(self, each)))
         end)
         finished = finished + child:recv()
      end)
   end
   if self.client then
      sendall(self.client, value)
      self.client:send(finished)
      receiveall(self.client, value)
      finished = self.client:recv()
   end
   if self.server then -- the longest branch first
      self.server:clients(function(child)
         sendall(child, value)
         child:send(finished)
      end, 1)
   end
   return finished
end

local function reduceall(self, value, reduce, zero)
   local finished
   if zero and next(value) == nil then
      value = self.last or error('allReduce: a value is needed the first time', 0)
   elseif not zero then
      self.last = value -- kept for nodes with fewer steps than others
   end
   repeat
      if zero then
         local i = 0
         walkTable(value, function(each)
            i = i + 1
            return zero(each, i)
         end)
      end
      finished = round(self, value, reduce, zero and 1 or 0)
   until not zero or finished == self.numNodes
   return value, self.numNodes - finished
end

local function scatterall(self, value)
   if self.client then
      receiveall(self.client, value)
   end
   if self.server then
      self.server:clients(function(child)
         sendall(child, value)
      end, 1)
   end
   return value
end

-- One node of a tree: `nodeIndex` from 1 to `numNodes`. Node 1 has a `server`, whose `host` and `port` are told; others
-- have a `client` of it, and say at which host (and port) their own children find them. `base`: branches at each node;
-- `link`: who is connected to whom (ipc.links).
return function(nodeIndex, numNodes, base, server, client, host, port, link)
   local self = {nodeIndex = nodeIndex, numNodes = numNodes, server = server, client = client, buffers = {}}
   together(self, function()
      if server then
         arrange(self, host, port, base, link or binary)
      else
         join(self, host, port)
      end
      start(self)
   end)

   -- The single value, or the table of values, that `call` gives for one.
   local function each(call, value, ...)
      local many = type(value) == 'table'
      local answer, n = together(self, call, many and value or {value}, ...)
      return many and answer or answer[1], n
   end

   local tree = {nodeIndex = nodeIndex, numNodes = numNodes, walkTable = walkTable}

   -- Every node ends up with all nodes' values, put together two at a time by reduce(mine, other); and how many nodes
   -- contributed. A node that has no more values gives zero(value, i), which makes value number i one that does not
   -- count; it then takes part until all nodes do so.
   function tree.allReduce(value, reduce, zero)
      return each(reduceall, value, reduce, zero)
   end

   -- Every node ends up with the values of node 1.
   function tree.scatter(value)
      return (each(scatterall, value))
   end

   -- Print what went over the connections.
   function tree.netStats()
      if self.server then
         print(self.server:netStats())
      end
      if self.client then
         print(self.client:netStats())
      end
   end

   -- Leave the tree.
   function tree.close()
      leave(self)
   end

   return tree
end
