-- The functions of torch where CUDA tensors are among their arguments: what they make is CUDA tensors as well. Those
-- that have no tensor among their arguments follow the default type.
local object = require 'torch.object'
local retag = require 'cutorch.retag'

-- Functions of tensors that are no methods of any: those that make tensors, and LAPACK's.
local others = {'zeros', 'ones', 'rand', 'randn', 'range', 'linspace', 'logspace', 'eye', 'cat', 'gesv', 'gels',
   'trtrs', 'symeig', 'eig', 'svd', 'inverse', 'potrf', 'potrs', 'potri', 'pstrf', 'qr', 'geqrf', 'orgqr', 'ormqr'}

-- `special`: what to call for CUDA tensors, by name, where that is another function.
return function(torch, special)
   local iscuda = {}
   for _, metatable in pairs(retag.twins) do
      iscuda[metatable] = true
   end

   -- Whether there are CUDA tensors among values and lists of values; and whether there is any tensor.
   local function look(...)
      local any = false
      for i = 1, select('#', ...) do
         local value = select(i, ...)
         local metatable = getmetatable(value)
         if iscuda[metatable] then
            return true, true
         elseif object.dtypeof[metatable] then
            any = true
         elseif type(value) == 'table' and metatable == nil then
            local cuda, tensor = look(unpack(value))
            if cuda then
               return true, true
            end
            any = any or tensor
         end
      end
      return false, any
   end

   local function wanted(...)
      local cuda, any = look(...)
      return cuda or not any and torch.getdefaulttensortype():sub(1, 10) == 'torch.Cuda'
   end

   local wrapped = {}
   local function wrap(name)
      local f = torch[name]
      if type(f) == 'function' and not wrapped[name] then
         wrapped[name] = true
         torch[name] = retag.when(wanted, f, special[name])
      end
   end

   local float = torch.getmetatable('torch.FloatTensor')
   local exempt = {isTensor = true, type = true, data = true, cdata = true, totable = true, numel = true}
   for name in pairs(float) do
      if not exempt[name] then
         wrap(name)
      end
   end
   for _, name in ipairs(others) do
      wrap(name)
   end
end
