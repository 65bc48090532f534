-- Random numbers of devices: torch's own generator of each device draws them, so the CPU's stream stays as it is.
local native = require 'bridge.native'

return function(cutorch, backend)
   local kind = backend.kind

   -- The device that is meant, from 0.
   local function device(name, id)
      return cutorch._device(name, id or cutorch.getDevice()) - 1
   end

   local function whole(name, seed)
      if type(seed) ~= 'number' then
         error(string.format("bad argument #1 to '%s' (number expected, got %s)", name,
            seed == nil and 'no value' or type(seed)), 3)
      end
      return seed
   end

   function cutorch.manualSeed(seed, id)
      native.python('cutorch.seed', kind, device('manualSeed', id), whole('manualSeed', seed))
   end

   function cutorch.manualSeedAll(seed)
      for i = 1, backend.count do
         native.python('cutorch.seed', kind, i - 1, whole('manualSeedAll', seed))
      end
   end

   function cutorch.seed(id)
      return native.python('cutorch.seed', kind, device('seed', id))
   end

   function cutorch.seedAll()
      local seed = cutorch.seed(1)
      cutorch.manualSeedAll(seed)
      return seed
   end

   function cutorch.initialSeed(id)
      return native.python('cutorch.initial_seed', kind, device('initialSeed', id))
   end

   function cutorch.getRNGState(id)
      return native.python('cutorch.state', kind, device('getRNGState', id)):clone()
   end

   function cutorch.setRNGState(state, id)
      if torch.type(state) ~= 'torch.ByteTensor' then
         error("bad argument #1 to 'setRNGState' (torch.ByteTensor expected, got " .. torch.type(state) .. ')', 2)
      end
      native.python('cutorch.restore', kind, device('setRNGState', id), state:clone())
   end
end
