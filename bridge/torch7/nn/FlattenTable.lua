-- A nested table's tensors as one list, in order. The list, and the nested table of gradients, stay the same tables as
-- long as they would hold the same tensors.
local FlattenTable, parent = torch.class('nn.FlattenTable', 'nn.Module')

function FlattenTable:__init()
   parent.__init(self)
   self.output = {}
   self.input_map = {}
   self.gradInput = {}
end

-- Append the tensors in `value` to a list; where each of them stands in it, nested as they are.
local function flatten(list, value)
   if torch.type(value) ~= 'table' then
      list[#list + 1] = value
      return #list
   end
   local map = {}
   for i = 1, #value do
      map[i] = flatten(list, value[i])
   end
   return map
end

local function unflatten(list, map)
   if type(map) == 'number' then
      return list[map]
   end
   local nested = {}
   for i = 1, #map do
      nested[i] = unflatten(list, map[i])
   end
   return nested
end

-- Does the list hold what `value` has, where the map says?
local function corresponds(list, value, map)
   if value == nil or map == nil then
      return false
   elseif torch.type(value) ~= 'table' then
      return type(map) == 'number' and list[map] == value
   elseif type(map) ~= 'table' or #map ~= #value then
      return false
   end
   for i = 1, #value do
      if not corresponds(list, value[i], map[i]) then
         return false
      end
   end
   return true
end

function FlattenTable:updateOutput(input)
   assert(torch.type(input) == 'table', 'input must be a table')
   if not corresponds(self.output, input, self.input_map) then
      self.output = {}
      self.input_map = flatten(self.output, input)
   end
   return self.output
end

function FlattenTable:updateGradInput(input, gradOutput)
   assert(torch.type(input) == 'table', 'input must be a table')
   if not corresponds(gradOutput, self.gradInput, self.input_map) then
      self.gradInput = unflatten(gradOutput, self.input_map)
   end
   return self.gradInput
end

-- Nothing here is this module's own.
function FlattenTable:type(typename)
   if not typename then
      return self._type
   end
   self._type = typename
   return self:clearState()
end

function FlattenTable:clearState()
   self.input_map = {}
   return parent.clearState(self)
end
