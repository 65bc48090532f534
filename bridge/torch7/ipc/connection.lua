-- What both ends of a connection have in common: ipc.client, and a server's ipc.server.client.
local ffi = require 'ffi'
local torch = require 'torch'
local native = require 'bridge.native'
local frame = require 'ipc.frame'
local transfer = require 'ipc.transfer'

local C = native.C
local home = {}
local Connection = torch.class('ipc.Connection', home)

local address = ffi.new('char[64]')

-- Where a descriptor leads, as text.
local function peerof(descriptor)
   local port = C.br_net_address(descriptor, 1, address, 64)
   return port < 0 and 'a peer that is gone' or string.format('%s:%d', ffi.string(address), port), ffi.string(address)
end

-- Closes a descriptor when it is collected.
function Connection.own(descriptor)
   local owner = ffi.new('int[1]', descriptor)
   return ffi.gc(owner, function()
      C.br_net_close(owner[0])
   end)
end

function Connection.disown(owner)
   ffi.gc(owner, nil)
   C.br_net_close(owner[0])
end

local function side()
   return {num_bytes = 0, num_regions = 0, num_calls = 0, num_system_calls = 0, total_seconds = 0, system_seconds = 0,
      cuda_sync_seconds = 0, cuda_ipc_seconds = 0, cuda_ipc_bytes = 0}
end

-- What netStats counts.
function Connection.newstats()
   return {tx = side(), rx = side()}
end

-- The same as programs see it.
function Connection.statistics(stats)
   local answer = {}
   for name, counted in pairs(stats) do
      local copy = {}
      for key, value in pairs(counted) do
         copy[key] = value
      end
      copy['NETWORK MB/s'] = copy.num_bytes / 2^20 / copy.total_seconds
      copy['CUDA IPC MB/s'] = copy.cuda_ipc_bytes / 2^20 / copy.cuda_ipc_seconds
      answer[name] = copy
   end
   return answer
end

-- A connection over an owned descriptor.
function Connection:__init(owner, stats)
   local descriptor = owner[0]
   self.owner, self.descriptor = owner, descriptor
   self.peer, self.host = peerof(descriptor)
   self.stats = stats
end

-- Before anything is sent or received.
function Connection:check()
   if not self.descriptor then
      error('ipc: the connection to ' .. self.peer .. ' is closed', 3)
   elseif self.busy then
      transfer.abandon(self, 'going on with', 'the program was interrupted while it sent or received')
   end
end

local function timed(counted, began)
   counted.num_calls = counted.num_calls + 1
   counted.total_seconds = counted.total_seconds + transfer.clock() - began
end

-- Send what frame.pack made ready.
function Connection:sendpacked(packed)
   self:check()
   local began = transfer.clock()
   frame.send(self, packed)
   timed(self.stats.tx, began)
end

-- Send any value that torch.save could write; a tensor or storage without a copy.
function Connection:send(value)
   self:check()
   self:sendpacked(frame.pack(value))
end

-- The next value that the other side sent. With a tensor or storage: the elements are received into that, which must
-- have the type and size of what was sent.
function Connection:recv(into)
   self:check()
   local began = transfer.clock()
   local _, value = frame.receive(self, into, true)
   timed(self.stats.rx, began)
   return value
end

-- The next value if all of it has come; else nothing.
function Connection:recvAsync()
   self:check()
   local began = transfer.clock()
   local there, value = frame.receive(self, nil, false)
   timed(self.stats.rx, began)
   if there then
      return value
   end
end

function Connection:close()
   if self.descriptor then
      Connection.disown(self.owner)
      self.descriptor, self.owner = nil, nil
   end
end

function Connection:__write()
   error(string.format('%s cannot be sent or saved: connect again there', torch.typename(self)))
end

return home.Connection
