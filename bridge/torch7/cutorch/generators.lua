-- The random numbers of devices: a generator of their own, so that the CPU's stream stays as it is.
local object = require 'torch.object'
local retag = require 'cutorch.retag'

local drawing = {'bernoulli', 'cauchy', 'exponential', 'geometric', 'logNormal', 'normal', 'random', 'uniform',
   'rand', 'randn', 'randperm'}

return function(cutorch, backend)
   local generator = torch.Generator()

   local function device(name, id)
      if id ~= nil or backend.count == 0 then
         cutorch._device(name, id)
      end
   end

   function cutorch.manualSeed(seed, id)
      device('manualSeed', id)
      torch.manualSeed(generator, seed)
   end

   function cutorch.manualSeedAll(seed)
      device('manualSeedAll')
      torch.manualSeed(generator, seed)
   end

   function cutorch.seed(id)
      device('seed', id)
      return torch.seed(generator)
   end

   function cutorch.seedAll()
      device('seedAll')
      return torch.seed(generator)
   end

   function cutorch.initialSeed(id)
      device('initialSeed', id)
      return torch.initialSeed(generator)
   end

   function cutorch.getRNGState(id)
      device('getRNGState', id)
      return torch.getRNGState(generator)
   end

   function cutorch.setRNGState(state, id)
      device('setRNGState', id)
      torch.setRNGState(generator, state)
   end

   -- Methods of CUDA tensors that draw take the device's generator unless they are given one.
   for _, metatable in pairs(retag.twins) do
      for _, name in ipairs(drawing) do
         local draw = metatable[name]
         if draw then
            metatable[name] = function(self, first, ...)
               if torch.type(first) == 'torch.Generator' then
                  return draw(self, first, ...)
               elseif first == nil and select('#', ...) == 0 then
                  return draw(self, generator)
               end
               return draw(self, generator, first, ...)
            end
         end
      end
   end
   -- The generator stands before the weights, and behind a result.
   for _, metatable in pairs(retag.twins) do
      local draw = metatable.multinomial
      metatable.multinomial = draw and function(first, second, ...)
         if object.dtype(first) and object.dtype(second) then
            return draw(first, generator, second, ...)
         elseif object.dtype(first) and type(second) == 'number' then
            return draw(generator, first, second, ...)
         end
         return draw(first, second, ...)
      end
   end
   cutorch._generator = generator
   object.keep(generator)
end
