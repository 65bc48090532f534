-- A node of a network: `data.module` makes its output from its children's outputs (it points at where they come from).
--
-- `data` is what the nodes of the forward graph and of the backward graph have in common. `data.mapindex` is the order
-- of the inputs: a list of their data, and the map from data to places. The keys of `data.reverseMap` are the nodes
-- that this one is an input of, whether they lead to the output or not.
local place = require 'nngraph.place'

local Node, parent = torch.class('nngraph.Node', 'graph.Node')

function Node:__init(data)
   parent.__init(self, data)
   if type(data) ~= 'table' then
      error('an nngraph.Node needs a table of data, got ' .. torch.type(data), 3)
   end
   data.annotations = data.annotations or {}
   data.mapindex = data.mapindex or {}
   data.reverseMap = data.reverseMap or {}
   data.annotations._debugLabel = data.annotations._debugLabel or place('_')
end

-- With `domap`, the child is the next input.
function Node:add(child, domap)
   parent.add(self, child)
   if domap then
      local mapindex, data = self.data.mapindex, child.data
      if mapindex[data] then
         error("Don't pass the same input twice.", 2)
      end
      mapindex[#mapindex + 1] = data
      mapindex[data] = #mapindex
      data.reverseMap = data.reverseMap or {} -- files of the first versions have none
      data.reverseMap[self] = true
   end
end

-- As many nodes, one for each element of the table that this node gives.
function Node:split(noutput)
   if type(noutput) ~= 'number' or noutput < 1 or noutput ~= math.floor(noutput) then
      error('split needs the number of elements of the table, got ' .. tostring(noutput), 2)
   elseif noutput == 1 then
      return nngraph.JustElement()(self)
   end
   local label = tostring(self.data.annotations._debugLabel)
   local splitter = nngraph.Node{nSplitOutputs = noutput,
      annotations = {_debugLabel = label .. ' split at ' .. tostring(place()) .. '-mnode'}}
   splitter:add(self, true)
   local elements = {}
   for i = 1, noutput do
      elements[i] = nngraph.Node{selectindex = i, input = {}, annotations = {_debugLabel = label .. '-' .. i}}
      elements[i]:add(splitter, true)
   end
   return unpack(elements)
end

function Node:annotate(annotations)
   for name, value in pairs(annotations) do
      self.data.annotations[name] = value
   end
   return self
end

function Node:graphNodeName()
   local name = (self.data.annotations or {}).name -- files of the first versions have no annotations
   return name and string.format('%s (%d)', name, self.id) or 'Node' .. self.id
end

function Node:graphNodeAttributes()
   local annotations = self.data.annotations or {}
   self.data.annotations = annotations
   annotations.graphAttributes = annotations.graphAttributes or {}
   annotations.graphAttributes.tooltip = annotations.graphAttributes.tooltip or annotations._debugLabel
   return annotations.graphAttributes
end

-- Is there something in a tensor that is no number?
local function flaw(tensor)
   if tensor:nElement() == 0 then
      return ''
   elseif tensor:ne(tensor):sum() > 0 then
      return 'NaN'
   elseif tensor:max() == math.huge then
      return 'inf'
   elseif tensor:min() == -math.huge then
      return '-inf'
   end
   return ''
end

local function describe(value)
   if torch.isTensor(value) then
      local kind = value:type() == torch.getdefaulttensortype() and 'Tensor' or value:type()
      return kind .. '[' .. table.concat(value:size():totable(), 'x') .. ']' .. flaw(value)
   elseif type(value) == 'table' and not torch.typename(value) then
      local parts = {}
      for i, inner in ipairs(value) do
         parts[i] = describe(inner)
      end
      return '{' .. table.concat(parts, ',') .. '}'
   end
   return (tostring(value):gsub('\n', '\\l'))
end

local function inputnames(mapindex)
   local names = {}
   for i, data in ipairs(mapindex) do
      names[i] = 'Node' .. (data.forwardNodeId or '')
   end
   return '{' .. table.concat(names, ',') .. '}'
end

function Node:label()
   local lines = {}
   for key, value in pairs(self.data) do
      if key == 'mapindex' then
         lines[#lines + 1] = #value > 1 and 'mapindex = ' .. inputnames(value) or nil
      elseif key ~= 'forwardNodeId' and key ~= 'annotations' then
         lines[#lines + 1] = tostring(key) .. ' = ' .. describe(value)
      end
   end
   table.sort(lines)
   local description = (self.data.annotations or {}).description
   return (description and 'desc = ' .. description .. '\\n' or '') .. table.concat(lines, '\\l')
end
