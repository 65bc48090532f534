-- Run the nodes of a graph in order. An error says at which node it came, and where the program made that node.
local run = {failed = setmetatable({}, {__mode = 'k'})} -- gModule -> the node that its last error came from

local function loop(progress, verbose, nodes, step, ...)
   for i = 1, #nodes do
      progress[1] = i
      step(nodes[i], ...)
      if verbose then
         print(' V : ' .. nodes[i]:label())
      end
   end
end

local function traced(message)
   if type(message) ~= 'string' or message:find('stack traceback:', 1, true) then
      return message
   end
   return debug.traceback(message, 2)
end

local function described(node)
   local data = node.data
   local annotations = data.annotations or {}
   local what = data.module and torch.type(data.module) or data.selectindex and 'element ' .. data.selectindex
      or data.nSplitOutputs and 'split' or 'no module'
   return string.format('node %s (%s, declared at %s)', annotations.name or 'Node' .. (data.forwardNodeId or node.id),
      what, tostring(annotations._debugLabel))
end

-- step(node, ...) for every node.
function run.nodes(graph, nodes, step, ...)
   local progress = {0}
   local ok, message = xpcall(loop, traced, progress, graph.verbose, nodes, step, ...)
   if not ok then
      local node = nodes[progress[1]]
      run.failed[graph] = node
      if type(message) == 'string' and node then
         message = string.format('\nIn %s of %s:\n%s', described(node), torch.type(graph), message)
      end
      error(message, 0)
   end
end

return run
