-- An optimiser with a state for each module, as face programs wrote it: the states are copied deeply, whatever is in them.
local pl = require('pl.import_into')()

local Modulewise = torch.class('Modulewise')

local function deepcopy(value)
   if type(value) == 'userdata' then
      return value:clone()
   elseif type(value) ~= 'table' then
      return value
   end
   local copy = {}
   for key, entry in pairs(value) do
      copy[deepcopy(key)] = deepcopy(entry)
   end
   return copy
end

function Modulewise.parameters(module)
   local found = {}
   for _, name in ipairs{'weight', 'bias'} do
      if module[name] then
         local gradient = module['grad' .. name:sub(1, 1):upper() .. name:sub(2)]
         table.insert(found, {module[name], gradient, isbias = name == 'bias'})
      end
   end
   return found
end

function Modulewise:__init(model, state, checkpoint)
   assert(model and (state or checkpoint))
   self.model, self.states = model, {}
   if checkpoint then
      local modules = {}
      model:apply(function(module) table.insert(modules, module) end)
      assert(pl.tablex.compare_no_order(modules, pl.tablex.keys(checkpoint)))
      self.states = checkpoint
      return
   end
   model:apply(function(module)
      self.states[module] = {}
      for i, parameter in ipairs(self.parameters(module)) do
         self.states[module][i] = deepcopy(state)
         if parameter.isbias then
            self.states[module][i].weightDecay = 0
         end
      end
   end)
end

function Modulewise:step(method, input, target, criterion)
   self.model:zeroGradParameters()
   local output = self.model:forward(input)
   local loss = criterion:forward(output, target)
   self.model:backward(input, criterion:backward(output, target))
   for module, states in pairs(self.states) do
      for i, parameter in ipairs(self.parameters(module)) do
         local weights, gradient = table.unpack(parameter)
         method(function() return loss, gradient end, weights, states[i])
      end
   end
   return loss, output
end

return Modulewise
