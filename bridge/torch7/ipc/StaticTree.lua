-- A tree whose nodes are told where node 1 is.
local ipcclient = require 'ipc.client'
local ipcserver = require 'ipc.server'
local NullTree = require 'ipc.NullTree'
local Tree = require 'ipc.Tree'

return function(nodeIndex, numNodes, nodeHost, nodePort, rootHost, rootPort)
   if numNodes == 1 then
      return NullTree()
   elseif nodeIndex == 1 then
      local server, port = ipcserver(nodeHost, nodePort)
      return Tree(nodeIndex, numNodes, 2, server, nil, nodeHost, port)
   end
   return Tree(nodeIndex, numNodes, 2, nil, ipcclient(rootHost, rootPort), nodeHost, nodePort)
end
