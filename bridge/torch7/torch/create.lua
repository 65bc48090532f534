-- Filled tensors: zeros, ones, eye, range, linspace, logspace, diag, tril, triu, cat, split and their kin.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local index = require 'torch.index'

local tensor, dtype, scratch = object.tensor, object.dtype, object.scratch
local number = arguments.number

local functions, methods = {}, {}

-- Sizes given as numbers or as a LongStorage: their count; they lie in scratch.
local function sizes(name, first, ...)
   if object.storagetype(first) == elements.Long.id then
      return geometry.sizesof(object.storage(first))
   end
   local list = {first, ...}
   for i = 1, #list do
      local size = number(list[i])
      if not size then
         error(string.format("bad argument #%d to '%s' (number expected, got %s)", i, name, type(list[i])), 3)
      end
      list[i] = size
   end
   return geometry.sizes(list, #list)
end

-- A function with an optional result first, whose method writes into self.
local function filled(name, value)
   functions[name] = function(first, ...)
      local r = first
      if dtype(first) then
         geometry.resize(tensor(r), sizes(name, ...))
      else
         r = object.newtensor(object.default)
         geometry.resize(tensor(r), sizes(name, first, ...))
      end
      kernels.fill(r, value)
      return r
   end
   methods[name] = functions[name]
end
filled('zeros', 0)
filled('ones', 1)

-- Numbers (with defaults) after an optional result.
local function numbered(name, defaults, f)
   local function run(first, ...)
      local r, given = first, {...}
      if not dtype(first) then
         r, given = object.newtensor(object.default), {first, ...}
      end
      for i = 1, math.max(#given, #defaults) do
         if given[i] ~= nil then
            given[i] = number(given[i])
         else
            given[i] = defaults[i]
         end
         if not given[i] then
            error(string.format("bad argument #%d to '%s' (number expected, got %s)", i, name,
               type(select(i, first, ...))), 2)
         end
      end
      local t = tensor(r)
      if t.dtype < elements.DEVICE then
         f(r, t, unpack(given))
         return r
      end
      local made = object.newtensor(t.dtype - elements.DEVICE) -- element by element, so not on the device
      f(made, tensor(made), unpack(given))
      if geometry.elements(t) ~= geometry.elements(tensor(made)) then
         geometry.resizeas(t, tensor(made))
      end
      kernels.copy(r, made)
      return r
   end
   functions[name], methods[name] = run, run
end

local function truncated(x)
   return x < 0 and math.ceil(x) or math.floor(x)
end

local function bad(argument, message)
   error(string.format("bad argument #%d to '?' (%s)", argument, message), 0)
end

-- r gets n elements, and is left as it is if it has as many.
local function fit(r, t, n)
   if geometry.elements(t) ~= n then
      geometry.resize1(t, n)
   end
   if geometry.contiguous(t) then
      return r, t
   end
   local flat = object.newtensor(t.dtype)
   geometry.resize1(tensor(flat), n)
   return flat, tensor(flat)
end

numbered('range', {false, false, 1}, function(r, t, first, last, step)
   if elements[t.dtype].integer then
      first, last, step = truncated(first), truncated(last), truncated(step)
   end
   if step == 0 then
      bad(3, 'step must be a non-null number')
   elseif not (step > 0 and last >= first or step < 0 and last <= first) then
      bad(2, 'upper bound and larger bound incoherent with step sign')
   end
   local n = math.floor((last - first) / step) + 1
   local flat, to = fit(r, t, n)
   local write, offset = index.write[t.dtype], to.storageOffset
   for i = 0, n - 1 do
      write(to, offset + i, first + i * step)
   end
   if flat ~= r then
      kernels.copy(r, flat)
   end
end)

local function spaced(name, value)
   numbered(name, {false, false, 100}, function(r, t, first, last, n)
      n = math.floor(n)
      if not (n > 1 or n == 1 and first == last) then
         bad(3, 'invalid number of points')
      end
      local flat, to = fit(r, t, n)
      local write, offset = index.write[t.dtype], to.storageOffset
      local step = n > 1 and (last - first) / (n - 1) or 0
      for i = 0, n - 1 do
         write(to, offset + i, value(first + i * step))
      end
      if flat ~= r then
         kernels.copy(r, flat)
      end
   end)
end
spaced('linspace', function(x) return x end)
spaced('logspace', function(x) return 10 ^ x end)

numbered('eye', {false, 0}, function(r, t, n, m)
   if n <= 0 then
      bad(1, 'invalid argument')
   end
   n, m = math.floor(n), math.floor(m <= 0 and n or m)
   scratch[0], scratch[1] = n, m
   geometry.resize(t, 2)
   kernels.fill(r, 0)
   local write = index.write[t.dtype]
   for i = 0, math.min(n, m) - 1 do
      write(t, t.storageOffset + i * (t.stride[0] + t.stride[1]), 1)
   end
end)

return function(torch)
   for name, f in pairs(functions) do
      torch[name] = f
   end
   for id = 0, elements.count - 1 do
      for name, method in pairs(methods) do
         local spaces = name == 'linspace' or name == 'logspace'
         if id ~= elements.Half.id and not (spaces and elements[id].integer) then
            object.metatables[id][name] = method
         end
      end
   end
end
