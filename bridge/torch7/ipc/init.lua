-- ipc: threads, processes and machines that work together.
local frame = require 'ipc.frame'

local ipc = {
   server = require 'ipc.server',
   client = require 'ipc.client',
   map = require 'ipc.map',
   workqueue = require 'ipc.workqueue',
   channel = require 'ipc.channel',
   mutex = require 'ipc.mutex',
   marshal = require 'ipc.marshal',
   spawn = require 'ipc.spawn',
   sharedtable = require 'ipc.sharedtable',
}

-- The most bytes that a value may have that comes over the network, or a tensor that is not received into one; without
-- a number: what it is. Where a program receives into a tensor, that is the limit.
function ipc.limit(bytes)
   if bytes == nil then
      return frame.limit
   elseif type(bytes) ~= 'number' or not (bytes >= 0 and bytes < 2^53) then
      error('limit: a number of bytes expected, got ' .. tostring(bytes), 2)
   end
   frame.limit = bytes
end

-- Whether functions that come over the network may run here; they may not, unless a program that trusts all its peers
-- says so. Without an argument: what it is.
function ipc.allowFunctions(yes)
   if yes == nil then
      return frame.functions
   end
   frame.functions = yes and true or false
end

for name, f in pairs(require 'ipc.process') do
   ipc[name] = f
end

-- Programs require these by their names (`require 'ipc.Tree'`); they are fields too.
local modules = {Tree = true, NullTree = true, StaticTree = true, DiscoveredTree = true, LocalhostTree = true,
   SlurmTree = true, BackgroundTask = true, BackgroundTaskPool = true, utils = true}

return setmetatable(ipc, {
   __index = function(_, name)
      return modules[name] and require('ipc.' .. name) or nil
   end
})
