-- nngraph.simple_print: a gModule's graph with its modules only, without the nodes that only hand things on.
local simple_print = {}
nngraph.simple_print = simple_print

local function worthy(node)
   local module = node.data and node.data.module
   return module and torch.typename(module) ~= 'nn.Identity'
end

-- The nearest nodes worth showing that can be reached from a node, each once.
local function successors(node)
   local found, seen, path = {}, {}, {}
   local function push(from)
      for i = #from.children, 1, -1 do
         path[#path + 1] = from.children[i]
      end
   end
   push(node)
   while #path > 0 do
      local child = table.remove(path)
      if not seen[child] then
         seen[child] = true
         if worthy(child) then
            found[#found + 1] = child
         else
            push(child)
         end
      end
   end
   return found
end

local function label(node)
   local name = node.data.annotations and node.data.annotations.name
   local text = tostring(node.data.module)
   return graph._dotEscape(name and name .. '\n' .. text or text)
end

function simple_print.todot(g, title)
   local lines = {'digraph G {'}
   if title then
      lines[#lines + 1] = 'labelloc="t";'
      lines[#lines + 1] = 'label=' .. '"' .. tostring(title):gsub('"', '\\"') .. '";'
   end
   lines[#lines + 1] = 'node [shape = oval]; '
   local number, shown = {}, {}
   for _, node in ipairs(g.nodes) do
      if worthy(node) then
         shown[#shown + 1] = node
         number[node] = #shown
         lines[#lines + 1] = string.format('n%d[label=%s];', #shown, label(node))
      end
   end
   for i, node in ipairs(shown) do
      for _, child in ipairs(successors(node)) do
         lines[#lines + 1] = string.format('n%d -> n%d;', i, number[child])
      end
   end
   lines[#lines + 1] = '}'
   return table.concat(lines, '\n')
end

-- Like graph.dot: `<fname>.dot`, and a picture where graphviz is.
function simple_print.dot(g, title, fname)
   graph.dot({todot = function(_, text) return simple_print.todot(g, text) end}, title, fname)
end
