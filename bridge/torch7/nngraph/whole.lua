-- What is done to all modules of an nn.gModule at once: other types, files, replacing, emptying.
local gModule, parent = torch.getmetatable('nn.gModule'), torch.getmetatable('nn.Container')

local GRAPH = {'fg', 'bg', 'innode', 'outnode', 'forwardnodes', 'backwardnodes'}

-- Inputs and gradients of the last call are let go; they may be the caller's tables.
function gModule:type(typename, tensorCache)
   if not typename then
      return self._type
   end
   tensorCache = tensorCache or {}
   local kept, converted = {}, {}
   for _, name in ipairs(GRAPH) do -- full of cycles: not for recursive conversion
      kept[name], self[name] = self[name], nil
   end
   local ok, message = pcall(parent.type, self, typename, tensorCache)
   for _, name in ipairs(GRAPH) do
      self[name] = kept[name]
   end
   if not ok then
      error(message, 0)
   end
   for _, module in ipairs(self.modules) do
      converted[module] = true
   end
   for _, node in ipairs(self.backwardnodes) do
      local data = node.data
      if data.module and not converted[data.module] then
         converted[data.module] = true
         data.module:type(typename, tensorCache)
      end
      data.gradOutputBuffer = nn.utils.recursiveType(data.gradOutputBuffer, typename, tensorCache)
      data.input, data.gradOutput = nil, nil
   end
   return self
end

-- In files of the first versions several inputs come straight from `innode`: build the graph anew, with a split.
local function rebuild(self)
   local byData, inputs, typename = {}, {}, self._type
   for _, node in ipairs(self.backwardnodes) do
      byData[node.data] = node
      node.data.reverseMap = nil -- no node is unused in a graph that was whole
   end
   for i, child in ipairs(self.innode.children) do
      local node = byData[child.data]
      node.children, node.data.mapindex = {}, {}
      inputs[i] = node
   end
   gModule.__init(self, inputs, {unpack(self.outnode.children)})
   self._type = typename or self._type
end

-- Files of the first versions have no list of modules either.
function gModule:read(file)
   for name, value in pairs(file:readObject()) do
      self[name] = value
   end
   if not self.nInputs and #self.innode.children > 1 then
      rebuild(self)
   end
   if not self.modules then
      self.modules = {}
      for _, node in ipairs(self.forwardnodes) do
         self.modules[#self.modules + 1] = node.data.module
      end
   end
end

function gModule:clearState()
   parent.clearState(self)
   for _, node in ipairs(self.backwardnodes) do
      local data = node.data
      data.input, data.gradOutput, data.gradOutputBuffer = nil, nil, nil
   end
   return self
end

function gModule:replace(callback)
   local out = callback(self)
   local replaced = {}
   self.modules = {}
   for _, node in ipairs(self.forwardnodes) do
      local module = node.data.module
      if module then
         replaced[module] = replaced[module] or module:replace(callback)
         node.data.module = replaced[module]
         self:add(replaced[module])
      end
   end
   return out
end

-- Call `func` with each module of this graph and the one at the same place of another.
function gModule:map(other, func)
   for i, node in ipairs(self.forwardnodes) do
      local twin = other.forwardnodes[i]
      if not twin or torch.type(node.data.module) ~= torch.type(twin.data.module) then
         error(string.format('trees do not match: %s here, %s there', torch.type(node.data.module),
            twin and torch.type(twin.data.module) or 'nothing'), 2)
      end
      if node.data.module then
         func(node.data.module, twin.data.module)
      end
   end
end

function gModule:__tostring__()
   return self.name or torch.type(self)
end
