-- nngraph.nest: one node that gives the outputs of nodes in a table nested as theirs is.
local call = require 'nngraph.call'

function nngraph.nest(nodes)
   if torch.isTypeOf(nodes, 'nngraph.Node') then
      return nodes
   elseif type(nodes) ~= 'table' or torch.typename(nodes) then
      error(call.wrong(nodes, 'nest', 1), 2)
   end
   local inner = {}
   for i = 1, table.maxn(nodes) do
      inner[i] = nngraph.nest(nodes[i])
   end
   if #inner == 0 then
      error('cannot nest an empty table of nodes', 2)
   elseif #inner == 1 then
      return nngraph.JustTable()(inner[1])
   end
   return nn.Identity()(inner)
end
