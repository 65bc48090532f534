-- A tree of processes of this host that the same process has started: they meet by its number, or by `ppid`.
local ffi = require 'ffi'
local DiscoveredTree = require 'ipc.DiscoveredTree'
local meeting = require 'ipc.meeting'

return function(nodeIndex, numNodes, ppid)
   local path = string.format('/tmp/%s.localhost', tostring(ppid or ffi.C.getppid()))
   local tree = DiscoveredTree(nodeIndex, numNodes, '127.0.0.1', nil, function(host, port)
      meeting.publish(path, host, port)
   end, function()
      return meeting.query(path)
   end)
   if nodeIndex == 1 and numNodes > 1 then
      os.remove(path) -- all have come: a later run must not find it
   end
   return tree
end
