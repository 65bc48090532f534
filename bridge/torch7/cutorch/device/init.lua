-- The backend for tensors in the memory of a device of torch's. The devices are its GPUs. Tests without a GPU use
-- torch's 'cpu' as the device; code outside of torch then never gets the memory's address, so that it fails as it would
-- on a GPU.
--
-- Types on a device have numbers of their own (torch.elements). Their memory covers no byte here, so each loop over
-- host memory refuses them, and torch.kernels calls the function of that name from the rooms below, which runs torch's
-- operators. Whole operators that modules call go to the device as they are.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'
local kernels = require 'torch.kernels'
local aten = require 'torch.aten'
local types = require 'cutorch.types'
local place = require 'cutorch.device.place'

local C = native.C

local rooms = {'pointwise', 'reduce', 'pick', 'products', 'pool'}

-- Do the work of the loops of these names, where tensors are on the device.
local function offer(loops)
   for name, loop in pairs(loops) do
      kernels.elsewhere[name] = place.transient(loop)
   end
end

-- The rows of torch.elements for the types on the device.
local function describe()
   for id = 0, elements.count - 1 do
      local kind, base = types[id], elements[id]
      local row = {
         id = id + elements.DEVICE,
         host = base,
         name = kind.name,
         stored = base.stored,
         printed = base.printed,
         bytes = base.bytes,
         integer = base.integer,
         pointer = base.pointer,
         tensor = kind.name .. 'Tensor',
         tensortype = kind.tensortype,
         storagetype = kind.storagetype,
         conversion = kind.conversion,
      }
      elements[row.id] = row
      elements.named[row.tensortype] = row
   end
end

-- A backend on the devices of torch that are of a type, 'cuda' or 'cpu'.
return function(kind)
   local device = {
      kind = kind,
      count = native.python('cutorch.count', kind),
      generators = 'cutorch.device.generators',
      streams = require('cutorch.device.streams')(kind),
   }

   function device.refuse(what)
      error(what .. ' is not there', 3)
   end

   function device.select(id)
      native.python('cutorch.select', kind, id - 1)
   end

   -- Wait until a device (or, without a number, the current one) has done what it was given.
   function device.synchronize(id)
      native.python('cutorch.synchronize', kind, id and id - 1)
   end

   function device.memory(id)
      return native.python('cutorch.memory', kind, id and id - 1)
   end

   function device.properties(id)
      return native.python('cutorch.properties', kind, id - 1)
   end

   function device.peers(from, to)
      return native.python('cutorch.peers', kind, from - 1, to - 1)
   end

   function device.version()
      return native.python('cutorch.version', kind)
   end

   function device.install(torch)
      aten.ready()
      local library = native.load_torch()
      local missing = C.br_device_load(native.heap, library, kind)
      if missing == nil and kind == 'cuda' then
         missing = C.br_aten_load_cuda((library:gsub('libtorch_cpu', 'libtorch_cuda')))
      end
      if missing ~= nil then
         error('this torch lacks ' .. ffi.string(missing) .. ', which tensors on a device need', 0)
      end
      describe()
      require('cutorch.device.storages')(torch)
      require('cutorch.device.tensors')(torch, kind ~= 'cuda')
      for _, room in ipairs(rooms) do
         offer(require('cutorch.device.' .. room))
      end
      offer(require('cutorch.device.order').loops)
      offer(require('cutorch.device.random')(torch))
   end

   return device
end
