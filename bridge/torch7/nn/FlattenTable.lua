-- A nested table's tensors as one list, in order.
local FlattenTable, parent = torch.class('nn.FlattenTable', 'nn.Module')

function FlattenTable:__init()
   parent.__init(self)
   self.output = {}
   self.input_map = {}
   self.gradInput = {}
end

local function flatten(list, value)
   if type(value) ~= 'table' then
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

function FlattenTable:updateOutput(input)
   if type(input) ~= 'table' then
      error('input must be a table')
   end
   self.output = {}
   self.input_map = flatten(self.output, input)
   return self.output
end

function FlattenTable:updateGradInput(_, gradOutput)
   self.gradInput = unflatten(gradOutput, self.input_map)
   return self.gradInput
end

function FlattenTable:type(typename, tensorCache)
   if typename then -- made again by the next updateOutput
      self.output, self.input_map, self.gradInput = {}, {}, {}
   end
   return parent.type(self, typename, tensorCache)
end

function FlattenTable:clearState()
   self.input_map = {}
   return parent.clearState(self)
end
