-- Who is connected to whom in a tree of nodes.

-- Call link(parent, child, depth) for each pair of a tree of n nodes (from 1 on), `base` branches at each level: nodes
-- with numbers near each other are joined first, so what one host runs stays together. `first`: how many nodes come
-- before, `depth`: levels below.
return function(base, n, first, depth, link)
   local function pair(parent, child)
      if parent <= n and child <= n then
         link(parent, child, depth)
      end
   end
   local function walk(start, level)
      local span = base^level
      if level == 0 then
         for child = start + 2, start + base do
            pair(start + 1, child)
         end
         return
      end
      for branch = 1, base - 1 do
         pair(start + 1, start + branch * span + 1)
      end
      for branch = 0, base - 1 do
         walk(start + branch * span, level - 1)
      end
   end
   walk(first, depth)
end
