-- Filled tensors: zeros, ones, eye, and the sequences range, linspace, logspace.
local ffi = require 'ffi'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local index = require 'torch.index'
local types = require 'torch.ops.types'

local tensor, scratch = object.tensor, object.scratch
local bad = arguments.bad
local FLOAT = elements.Float.id

local function filled(value)
   return function(r, ...)
      geometry.resize(tensor(r), geometry.sizeslike(...))
      kernels.fill(r, value)
      return r
   end
end

local function eye(r, n, m)
   if n <= 0 then
      bad(1, 'invalid argument')
   end
   local t = tensor(r)
   scratch[0], scratch[1] = n, m <= 0 and n or m
   geometry.resize(t, 2)
   kernels.fill(r, 0)
   local write = index.write[t.dtype]
   for i = 0, math.min(n, tonumber(t.size[1])) - 1 do
      write(t, t.storageOffset + i * (t.stride[0] + t.stride[1]), 1)
   end
   object.keep(r)
   return r
end

-- Give r the n numbers value(0), value(1), ...: one after the other, in whatever shape it has if that has as many
-- elements.
local function sequence(r, n, value)
   local t = tensor(r)
   if geometry.elements(t) ~= n then
      geometry.resize1(t, n)
   end
   local to = geometry.contiguous(t) and r or object.newtensor(t.dtype)
   geometry.resizeas(tensor(to), t)
   local write, flat = index.write[t.dtype], tensor(to)
   local offset = flat.storageOffset
   for i = 0, n - 1 do
      write(flat, offset + i, value(i))
   end
   if to ~= r then
      kernels.copy(r, to)
   end
   return r
end

local function range(r, first, last, step)
   if elements[tensor(r).dtype].integer then
      first, last, step = arguments.truncated(first), arguments.truncated(last), arguments.truncated(step)
   end
   if not (step > 0 or step < 0) then
      bad(3, 'step must be a non-null number')
   elseif not (step > 0 and last >= first or step < 0 and last <= first) then
      bad(2, 'upper bound and larger bound incoherent with step sign')
   end
   return sequence(r, math.floor((last - first) / step + 1), function(i)
      return first + i * step
   end)
end

local cell = ffi.new('float[1]')

local function rounded(x)
   cell[0] = x
   return cell[0]
end

local function exact(x)
   return x
end

-- n numbers from first to last, with Torch7's roundings: every step in the tensor's type.
local function spaced(value)
   return function(r, first, last, n)
      if not (n > 1 or n == 1 and first == last) then
         bad(3, 'invalid number of points')
      end
      local round = tensor(r).dtype % elements.DEVICE == FLOAT and rounded or exact
      first, last = round(first), round(last)
      local span, steps = round(last - first), round(n - 1)
      return sequence(r, n, function(i)
         return value(n == 1 and first or round(first + round(round(round(i) * span) / steps)))
      end)
   end
end

local function row(name, forms, f)
   return {name = name, types = types.NUMERIC, host = true, forms = {forms, f}}
end

local function spacedRow(name, value)
   return {name = name, types = types.FLOAT, host = true, forms = {'*T real real [long=100]', spaced(value)}}
end

return {
   {name = 'zeros', types = types.NUMERIC, forms = {'*T sizes', filled(0)}},
   {name = 'ones', types = types.NUMERIC, forms = {'*T sizes', filled(1)}},
   row('eye', '*T long [long=0]', eye),
   row('range', '*T accreal accreal [accreal=1]', range),
   spacedRow('linspace', exact),
   spacedRow('logspace', function(x) return 10 ^ x end),
}
