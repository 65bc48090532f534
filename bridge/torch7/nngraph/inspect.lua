-- Looking at graphs: pictures of them, names of nodes after the program's variables, the node at which one failed.
local run = require 'nngraph.run'

local gModule = torch.getmetatable('nn.gModule')
local CHECKED = {'runForwardFunction', 'updateGradInput', 'accGradParameters'}
local plain = {} -- the methods as they are without setDebug

-- The forward graph in graphviz's language, the failed node in red.
local function todot(self)
   local text, failed = self.fg:todot(self.name), run.failed[self]
   for i, node in ipairs(self.fg.nodes) do
      if failed and node.data == failed.data then
         text = text:gsub('}%s*$', '') .. string.format('n%d[style=filled, fillcolor=red];\n}', i)
      end
   end
   return text
end

-- Draw what failed in `<name>.svg`, for a gModule whose field `name` is set, and raise the error again.
local function report(self, message)
   if self.name then
      io.stderr:write(string.format('saving %s.svg\n', self.name))
      graph.dot({todot = function() return todot(self) end}, self.name, self.name)
   end
   error(message, 0)
end

local function checked(original)
   return function(self, ...)
      local ok, result = pcall(original, self, ...)
      if ok then
         return result
      end
      report(self, result)
   end
end

-- With debugging on, an error in a gModule draws its graph.
function nngraph.setDebug(enable)
   for _, name in ipairs(CHECKED) do
      if enable and not plain[name] then
         plain[name] = gModule[name]
         gModule[name] = checked(plain[name])
      elseif not enable and plain[name] then
         gModule[name], plain[name] = plain[name], nil
      end
   end
end

-- Name the nodes that the caller's local variables hold after those. [stackLevel]: 2 is the caller's caller, ...
function nngraph.annotateNodes(stackLevel)
   local level = (stackLevel or 1) + 1
   for index = 1, math.huge do
      local name, value = debug.getlocal(level, index)
      if not name then
         return
      elseif torch.isTypeOf(value, 'nngraph.Node') and not value.data.annotations.name then
         value:annotate{name = name}
      end
   end
end

-- Show a gModule's graph.
function nngraph.display(module)
   graph.dot(module.fg, module.name)
end
