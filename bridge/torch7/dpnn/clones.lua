-- Clones that share their parameters with the original, and vectors of parameters that all clones keep viewing.
local copy = require 'nn.shared.cloning'

local Module = nn.Module

Module.dpnn_parameters = {'weight', 'bias'}
Module.dpnn_gradParameters = {'gradWeight', 'gradBias'}

-- Call f(module) for this module and all in its fields, tables in them included, each once.
local function each(value, f, seen)
   if seen[value] then
      return
   end
   seen[value] = true
   if torch.isTypeOf(value, 'nn.Module') then
      f(value)
   end
   for _, inner in pairs(value) do
      if type(inner) == 'table' then
         each(inner, f, seen)
      end
   end
end

-- A clone whose parameters and gradients are views of this module's. With stepClone, recurrent modules inside are the
-- same ones in both.
function Module:sharedClone(shareParams, shareGradParams, stepClone)
   if stepClone and self.dpnn_stepclone then
      return self
   end
   local kept = {}
   local function keep(module, names)
      for _, name in ipairs(names) do
         local tensor = module[name]
         if torch.isTensor(tensor) and tensor:storage() then
            kept[torch.pointer(tensor:storage())] = tensor:storage()
         end
      end
   end
   each(self, function(module)
      if stepClone and module.dpnn_stepclone then
         kept[module] = module
      end
      if shareParams ~= false then
         keep(module, module.dpnn_parameters)
      end
      if shareGradParams ~= false then
         keep(module, module.dpnn_gradParameters)
      end
   end, {})
   return copy(self, kept)
end

function Module:stepClone(shareParams, shareGradParams)
   return self:sharedClone(shareParams, shareGradParams, true)
end

-- Modules that containers keep aside (clones for steps in time) have to view the same vectors.
function Module:getParameters()
   local parameters, gradients = {}, {}
   local function take(module)
      local p, g = module:parameters()
      for i, parameter in ipairs(p or {}) do
         parameters[#parameters + 1] = parameter
         gradients[#gradients + 1] = g[i]
      end
   end
   take(self)
   each(self, function(module)
      if module ~= self and not module.modules then
         take(module)
      end
   end, {})
   return Module.flatten(parameters), Module.flatten(gradients)
end

function Module:sparseParameters()
   return self:parameters()
end

-- Let this module be left out of backward passes.
function Module:dontBackward()
   self.updateGradInput = function() end
   self.accGradParameters = function() end
   self.accUpdateGradParameters = function() end
   return self
end

function Module:accept(visitor)
   visitor:visit(self)
end

-- The sizes of the output for an input of these sizes.
function Module:outside(size)
   local input = torch.type(size) == 'table' and torch.randn(unpack(size)) or torch.randn(size)
   return self:updateOutput(input):size()
end
