-- What torch.CudaHalfTensor has by way of floats: random numbers and sequences, made as floats and then rounded.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'

local tensor = object.tensor

local makers = {'bernoulli', 'cauchy', 'exponential', 'geometric', 'logNormal', 'normal', 'random', 'uniform', 'rand',
   'randn', 'randperm', 'zeros', 'ones', 'eye', 'range', 'linspace', 'logspace'}

-- The methods that make halves, by name, of those of float tensors where the halves are.
return function(floats)
   local methods = {}
   for _, name in ipairs(makers) do
      local make = floats[name]
      methods[name] = function(self, ...)
         local made = object.newtensor(elements.beside(elements.Float.id, object.dtype(self)))
         geometry.resizeas(tensor(made), tensor(self))
         make(made, ...)
         geometry.resizeas(tensor(self), tensor(made))
         return self:copy(made)
      end
   end
   return methods
end
