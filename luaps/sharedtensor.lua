-- Tensors that processes of this host share by pyps.wholememory, in Python and Lua: the same memory, without a copy.
local ffi = require 'ffi'
local errors = require 'luaps.errors'
local memoryfile = require 'luaps.memoryfile'

local raise = errors.raise

-- dtype -> Torch7's type, C type, bytes. Torch7 has no type for some dtypes of torch; FFI can access them all.
local TYPES = {
   float32 = {'Float', 'float', 4},
   float64 = {'Double', 'double', 8},
   float16 = {'Half', 'uint16_t', 2},
   bfloat16 = {nil, 'uint16_t', 2},
   int64 = {'Long', 'int64_t', 8},
   int32 = {'Int', 'int32_t', 4},
   int16 = {'Short', 'int16_t', 2},
   int8 = {'Char', 'int8_t', 1},
   uint8 = {'Byte', 'uint8_t', 1},
   bool = {'Byte', 'uint8_t', 1},
}
local DTYPES = {
   ['torch.FloatTensor'] = 'float32',
   ['torch.DoubleTensor'] = 'float64',
}

-- Storages and tensors -> file handle. The file can be found by its name as long as one of them exists here.
local held = setmetatable({}, {__mode = 'k'})

local function kind(file, described)
   local found = TYPES[described.dtype]
   if not found then
      raise('%s holds elements of %s, which have no type in Lua', file.name, described.dtype)
   end
   return found
end

-- A Torch storage with all elements of a file.
local function storage(file, type)
   local class = type[1] and torch[type[1] .. 'Storage']
   if not class then
      raise('%s holds elements that Torch has no type for; luaps.sharedmemory(name) gives them over FFI', file.name)
   end
   local made = class('/proc/self/fd/' .. file.descriptor, true, math.floor(file.bytes / type[3]))
   held[made] = file.handle
   return made
end

local function single(name)
   local file = memoryfile.open(name)
   if #file.tensors ~= 1 then
      raise('%s holds %d tensors; luaps.share(module, name) opens a model', name, #file.tensors)
   end
   return file, file.tensors[1]
end

local sharedtensor = {}

-- Open the tensor with this name as a torch tensor on the same memory; needs torch.
function sharedtensor.open(name)
   local ok, torch = pcall(require, 'torch')
   if not ok then
      raise('sharedtensor needs torch, which is not here; luaps.sharedmemory(name) gives the same memory over FFI')
   end
   local file, described = single(name)
   local type = kind(file, described)
   local all = storage(file, type)
   local class = torch[type[1] .. 'Tensor']
   local made
   if #described.size == 0 then -- Torch7 has no tensor without dimensions: one element instead
      made = class(all, described.offset + 1, torch.LongStorage{1}, torch.LongStorage{1})
   else
      made = class(all, described.offset + 1, torch.LongStorage(described.size), torch.LongStorage(described.stride))
   end
   held[made] = file.handle
   return made
end

-- The same as plain FFI memory, without torch: a table with data (a typed pointer to the first element), size and
-- stride in elements, and dtype. The memory stays mapped as long as the table exists.
function sharedtensor.memory(name)
   local file, described = single(name)
   local memory = memoryfile.map(file)
   local pointer = ffi.cast(kind(file, described)[2] .. '*', memory)
   return {
      data = pointer + described.offset,
      size = described.size,
      stride = described.stride,
      dtype = described.dtype,
      name = name,
      memory = memory,
      handle = file.handle,
   }
end

-- Raise an error unless the file holds as many parameters as the module, with the same numbers of elements in the same
-- order, each contiguous and of the same type.
local function match(file, parameters)
   if #file.tensors ~= #parameters then
      raise('%s has %d parameters, the module %d', file.name, #file.tensors, #parameters)
   end
   for i, described in ipairs(file.tensors) do
      local count = 1
      for d = #described.size, 1, -1 do
         if described.stride[d] ~= count and described.size[d] > 1 then
            raise('parameter %d of %s does not lie in one piece', i, file.name)
         end
         count = count * described.size[d]
      end
      if count ~= parameters[i]:nElement() or DTYPES[torch.type(parameters[i])] ~= described.dtype then
         raise('parameter %d of %s is %d %s, the module has %d of %s', i, file.name, count, described.dtype,
            parameters[i]:nElement(), torch.type(parameters[i]))
      end
   end
end

-- Move a module's parameters into new shared memory. With a name, use the parameters that another process has shared
-- under that name.
function sharedtensor.share(module, name)
   local parameters = module:parameters()
   local dtype = parameters and parameters[1] and DTYPES[torch.type(parameters[1])]
   if not dtype then
      raise('share expects a module with parameters of Float or Double, got %s', errors.shown(module))
   end
   local file
   if name == nil then
      local counts = {}
      for i, parameter in ipairs(parameters) do
         counts[i] = parameter:nElement()
      end
      file = memoryfile.create(dtype, TYPES[dtype][3], counts)
   else
      file = memoryfile.open(name)
   end
   match(file, parameters)
   local all = storage(file, TYPES[dtype])
   for i, parameter in ipairs(parameters) do
      local values = name == nil and parameter:clone()
      parameter:set(all, file.tensors[i].offset + 1, parameter:size())
      held[parameter] = file.handle
      if values then
         parameter:copy(values)
      end
   end
   return file.name
end

return sharedtensor
