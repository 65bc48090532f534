-- A tree whose nodes find node 1 by what it has published: `publish(host, port)` is called there, and `query()`, which
-- answers the same, on all other nodes.
local ipcclient = require 'ipc.client'
local ipcserver = require 'ipc.server'
local transfer = require 'ipc.transfer'
local NullTree = require 'ipc.NullTree'
local Tree = require 'ipc.Tree'

local PATIENCE = 300 -- seconds in which node 1 may come up
local TRY = 1 -- seconds after which what was published is read again: it may have been left by an earlier run

local function find(query)
   local deadline = transfer.clock() + PATIENCE
   while true do
      local host, port = query()
      local found, client = pcall(ipcclient, host, port, TRY)
      if found then
         return client
      elseif transfer.clock() > deadline or not tostring(client):find('no connection to', 1, true) then
         error(client, 0)
      end
   end
end

return function(nodeIndex, numNodes, nodeHost, nodePort, publish, query, link)
   if numNodes == 1 then
      return NullTree()
   elseif nodeIndex ~= 1 then
      return Tree(nodeIndex, numNodes, 2, nil, find(query), nodeHost, nodePort, link)
   end
   local server, port = ipcserver(nodeHost, nodePort)
   publish(nodeHost, port)
   return Tree(nodeIndex, numNodes, 2, server, nil, nodeHost, port, link)
end
