-- Edges and the nodes they join, in the order they came; both tables are also maps from a thing to its place.
local Graph = torch.class('graph.Graph')

function Graph:__init()
   self.edges = {}
   self.nodes = {}
end

local function enter(list, thing)
   if not list[thing] then
      list[#list + 1] = thing
      list[thing] = #list
      return #list
   end
end

-- Add an edge, or a table of them, with its nodes.
function Graph:add(edge)
   if type(edge) ~= 'table' then
      error('graph.Edge or {graph.Edges} expected, got ' .. torch.type(edge), 2)
   elseif not torch.typename(edge) then
      for _, one in ipairs(edge) do
         self:add(one)
      end
      return
   end
   local from, to = edge.from, edge.to
   if type(from) ~= 'table' or type(to) ~= 'table' then
      error(string.format('an edge joins two nodes, got %s and %s', torch.type(from), torch.type(to)), 2)
   end
   enter(self.edges, edge)
   from.id = enter(self.nodes, from) or from.id
   to.id = enter(self.nodes, to) or to.id
   from:add(to)
   from.children[to] = from.children[to] or #from.children
end

-- The same edges between new nodes with the same data.
function Graph:clone()
   local clone, nodes = graph.Graph(), {}
   for i, node in ipairs(self.nodes) do
      nodes[i] = node.new(node.data)
   end
   for _, edge in ipairs(self.edges) do
      clone:add(edge.new(nodes[self.nodes[edge.from]], nodes[self.nodes[edge.to]]))
   end
   return clone
end

-- All edges turned, between new nodes with the same data; and the map from this graph's nodes to those.
function Graph:reverse()
   local reversed, map = graph.Graph(), {}
   for _, edge in ipairs(self.edges) do
      local from, to = edge.from, edge.to
      map[from] = map[from] or from.new(from.data)
      map[to] = map[to] or to.new(to.data)
      reversed:add(edge.new(map[to], map[from]))
   end
   return reversed, map
end

-- The nodes at one end of edges that are at no edge's other end.
local function ends(self, one, other)
   local inner, found, list = {}, {}, {}
   for _, edge in ipairs(self.edges) do
      inner[edge[other]] = true
   end
   for _, edge in ipairs(self.edges) do
      local node = edge[one]
      if not inner[node] and not found[node] then
         found[node] = true
         list[#list + 1] = node
      end
   end
   table.sort(list, function(a, b)
      return self.nodes[a] < self.nodes[b]
   end)
   return list
end

-- Nodes that no edge leads to.
function Graph:roots()
   return ends(self, 'from', 'to')
end

-- Nodes that no edge leaves.
function Graph:leaves()
   return ends(self, 'to', 'from')
end

function Graph:hasCycle()
   local state = {}
   for _, node in ipairs(self.nodes) do -- a cycle may be out of reach of every root
      if node:hasCycle(state) then
         return true
      end
   end
   return false
end

-- The nodes, each behind all whose edges lead to it; then the reversed graph and its roots.
function Graph:topsort()
   local reversed, map = self:reverse()
   local original = {}
   for node, turned in pairs(map) do
      original[turned] = node
   end
   local roots = reversed:roots()
   if #roots == 0 and #self.nodes > 0 or self:hasCycle() then
      error('Graph has cycles', 2)
   end
   local above = graph.Node('the leaves')
   above:add(roots)
   local sorted = {}
   above:dfs(function(node)
      sorted[#sorted + 1] = original[node] -- nothing for `above`
   end)
   return sorted, reversed, roots
end
