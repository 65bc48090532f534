-- ipc.server([host,] [port] [, seconds]): takes connections. Nothing runs in the background: a connection is accepted
-- when the program next asks for its clients.
local ffi = require 'ffi'
local torch = require 'torch'
local native = require 'bridge.native'
local frame = require 'ipc.frame'
local transfer = require 'ipc.transfer'
local Connection = require 'ipc.connection'
local place = require 'ipc.place'

local C = native.C
local PATIENCE = 300 -- seconds in which as many clients as a program asks for may come

-- ---- a client as its server sees it

local Peer = torch.class('ipc.server.client', 'ipc.Connection', {})

-- A name for some clients, for the calls that take one; without it: what it is.
function Peer:tag(name)
   if name == nil then
      return self.name
   elseif type(name) ~= 'string' then
      error('tag: string expected, got ' .. type(name), 2)
   end
   self.name = name
end

-- A number by which a server's clients are ordered; without it: what it is.
function Peer:id(number)
   if number == nil then
      return self.number
   elseif not tonumber(number) then
      error('id: number expected, got ' .. torch.type(number), 2)
   end
   self.number = tonumber(number)
end

function Peer:address()
   return self.host
end

-- ---- the server

local home = {}
local Server = torch.class('ipc.server', home)

local function check(self, name)
   if torch.typename(self) ~= 'ipc.server' then
      error(string.format('%s: ipc.server expected, got %s', name, torch.type(self)), 3)
   elseif not self.listener then
      error('ipc: this server is closed', 3)
   end
end

-- Accept the connections that wait, and forget clients that are closed. The newest client comes first.
local function admit(self)
   local left = {}
   for _, client in ipairs(self.members) do
      if client.descriptor then
         left[#left + 1] = client
      end
   end
   self.members = left
   while true do
      local descriptor = C.br_net_accept(self.listener[0])
      if descriptor == C.BR_NET_NONE then
         return left
      elseif descriptor < 0 then
         error('ipc: accepting a client: ' .. transfer.reason(descriptor), 3)
      end
      local client = torch.factory('ipc.server.client')()
      client:__init(Connection.own(descriptor), self.stats)
      client.number = 0
      table.insert(left, 1, client)
   end
end

-- Those that have a tag (all, without one), by their ids.
local function selected(self, tag, inverted)
   local order, chosen = {}, {}
   for i, client in ipairs(admit(self)) do
      if tag == nil or client.name == tag then
         chosen[#chosen + 1], order[client] = client, i
      end
   end
   table.sort(chosen, function(a, b)
      if a.number ~= b.number then
         return (a.number < b.number) ~= inverted
      end
      return order[a] < order[b]
   end)
   return chosen
end

local function await(self, n)
   local deadline = transfer.clock() + self.seconds
   local listener, which = ffi.new('int[1]', self.listener[0]), ffi.new('int[1]')
   while #admit(self) < n do
      if transfer.clock() > deadline then
         error(string.format('ipc: %d of %d clients within %g seconds', #self.members, n, self.seconds), 3)
      end
      local code = C.br_net_readable(listener, 1, 0, which, transfer.slice)
      if code ~= C.BR_DONE and code ~= C.BR_TIMEOUT then
         error('ipc: waiting for clients: ' .. transfer.reason(code), 3)
      end
      transfer.heed()
   end
end

-- Call f with each client; how many there were. clients(n, f): wait until there are n. clients(f [, tag] [, inverted]):
-- those with a tag; with a number other than 0, from the highest id to the lowest.
function Server:clients(...)
   check(self, 'clients')
   local n, f, tag, inverted = ...
   if type(n) == 'function' then
      f, tag, inverted = ...
      if type(tag) ~= 'string' then
         tag, inverted = nil, tag
      end
   elseif tonumber(n) and type(f) == 'function' then
      await(self, tonumber(n))
   else
      error(string.format('clients: a number of clients and a function expected, got %s and %s', torch.type(n),
         torch.type(f)), 2)
   end
   local chosen = selected(self, tag, (tonumber(inverted) or 0) ~= 0)
   for _, client in ipairs(chosen) do
      f(client)
   end
   return #chosen
end

-- Send a value to all clients, or to those with a tag.
function Server:broadcast(value, tag)
   check(self, 'broadcast')
   local packed = frame.pack(value)
   for _, client in ipairs(selected(self, tag, false)) do
      client:sendpacked(packed)
   end
end

-- The next value from any client (with a tag), and that client.
function Server:recvAny(tag)
   check(self, 'recvAny')
   local chosen = selected(self, tag, false)
   if #chosen == 0 then
      error('recvAny: this server has no clients' .. (tag and ' with the tag ' .. tostring(tag) or ''), 2)
   end
   local descriptors, which = ffi.new('int[?]', #chosen), ffi.new('int[1]')
   for i, client in ipairs(chosen) do
      client:check()
      descriptors[i - 1] = client.descriptor
   end
   while true do
      local code = C.br_net_readable(descriptors, #chosen, self.turn, which, transfer.slice)
      if code == C.BR_DONE then
         self.turn = which[0] + 1 -- look at this client last the next time, so that the others have their turn
         local client = chosen[which[0] + 1]
         return client:recv(), client
      elseif code ~= C.BR_TIMEOUT then
         error('ipc: waiting for clients: ' .. transfer.reason(code), 2)
      end
      transfer.heed()
   end
end

function Server:netStats()
   return Connection.statistics(self.stats)
end

-- Leave all clients.
function Server:close()
   if self.listener then
      for _, client in ipairs(self.members) do
         client:close()
      end
      Connection.disown(self.listener)
      self.members, self.listener = {}, nil
   end
end

Server.__write = Connection.__write

-- The server, and its port.
return function(host, port, seconds)
   host, port = place.check('server', host, port == nil and 0 or port)
   seconds = place.patience('server', seconds, PATIENCE)
   local descriptor = C.br_net_listen(host, port)
   if descriptor < 0 then
      error(string.format('ipc.server: cannot listen at %s:%d: %s', host, port, transfer.reason(descriptor)), 2)
   end
   local self = torch.factory('ipc.server')()
   self.listener, self.members, self.turn = Connection.own(descriptor), {}, 0
   self.seconds, self.stats = seconds, Connection.newstats()
   return self, C.br_net_address(descriptor, 0, ffi.new('char[64]'), 64)
end
