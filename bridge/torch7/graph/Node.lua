-- A node: its data, and the nodes its arrows lead to, in order. `children` is also the map from a child to its place.
local Node = torch.class('graph.Node')

function Node:__init(data)
   self.data = data
   self.id = 0 -- its place in the graph that it was last added to
   self.children = {}
   self.visited = false
   self.marked = false
end

function Node:add(child)
   local children = self.children
   if type(child) == 'table' and not torch.typename(child) then
      for _, one in ipairs(child) do
         self:add(one)
      end
   elseif not children[child] then
      children[#children + 1] = child
      children[child] = #children
   end
end

-- Go down first: `before` is called for a node when it is reached, `after` when all below it is done. A loop of our own
-- and no recursion, so that graphs may be of any depth. A node that is `visited` (which `before` may set) is passed.
function Node:visit(before, after)
   if self.visited then
      return
   end
   if before then
      before(self)
   end
   local path, place, depth = {self}, {0}, 1
   while depth > 0 do
      local node = path[depth]
      local index = place[depth] + 1
      local child = node.children[index]
      place[depth] = index
      if child == nil then
         depth = depth - 1
         if after then
            after(node)
         end
      elseif not child.visited then
         if before then
            before(child)
         end
         depth = depth + 1
         path[depth], place[depth] = child, 0
      end
   end
end

function Node:label()
   return tostring(self.data)
end

-- The graph of all that can be reached from here.
function Node:graph()
   local g = graph.Graph()
   self:bfs(function(node)
      for _, child in ipairs(node.children) do
         g:add(graph.Edge(node, child))
      end
   end)
   return g
end

-- Depth first, a node after all below it. The nodes stay `visited`, and are returned in this order.
function Node:dfs_dirty(func)
   local visited = {}
   self:visit(function(node)
      node.visited = true
   end, function(node)
      func(node)
      visited[#visited + 1] = node
   end)
   return visited
end

function Node:dfs(func)
   for _, node in ipairs(self:dfs_dirty(func)) do
      node.visited = false
   end
end

-- Breadth first. The nodes stay `marked`, and are returned in this order.
function Node:bfs_dirty(func)
   local reached = {self}
   self.marked = true
   local at = 1
   while reached[at] do
      local node = reached[at]
      func(node)
      for _, child in ipairs(node.children) do
         if not child.marked then
            child.marked = true
            reached[#reached + 1] = child
         end
      end
      at = at + 1
   end
   return reached
end

function Node:bfs(func)
   for _, node in ipairs(self:bfs_dirty(func)) do
      node.marked = false
   end
end

-- Does a path from here come back to one of its nodes? [state]: what was found from other nodes: what is 'done' is
-- not searched again.
function Node:hasCycle(state)
   state = state or {}
   if state[self] then
      return false
   end
   state[self] = 'open'
   local path, place, depth = {self}, {0}, 1
   while depth > 0 do
      local node = path[depth]
      place[depth] = place[depth] + 1
      local child = node.children[place[depth]]
      if child == nil then
         state[node] = 'done'
         depth = depth - 1
      elseif state[child] == 'open' then
         return true
      elseif not state[child] then
         state[child] = 'open'
         depth = depth + 1
         path[depth], place[depth] = child, 0
      end
   end
   return false
end
