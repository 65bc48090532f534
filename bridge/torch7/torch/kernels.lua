-- The native loops of bridge/core as Lua functions that raise what the loops report, on whatever memory there is.
--
-- They take the tensors themselves; FFI makes pointers of them at the call. That keeps the tensors alive until then: a
-- pointer does not, and LuaJIT forgets a variable after its last use, so code that holds a pointer while something is
-- allocated has to mention its tensor again afterwards.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'
local arguments = require 'torch.arguments'
local geometry = require 'torch.geometry'
local object = require 'torch.object'

local C = native.C
local pointer = object.tensor
local number = ffi.new('double[1]')

-- What does a loop's work for tensors on a device, by the loop's name and with its arguments; cutorch fills it.
local elsewhere = {}

local kernels = {elsewhere = elsewhere}

-- Memory on a device covers nothing here, so a loop refuses such tensors before it has done anything; the device is
-- asked only then, which leaves the way of tensors on the CPU as short as it is.
local function refused(code, name, ...)
   local instead = elsewhere[name]
   if instead then
      for i = 1, select('#', ...) do
         local dtype = object.dtype((select(i, ...)))
         if dtype and dtype >= elements.DEVICE then
            return instead(...)
         end
      end
   end
   return code
end

-- 'a, b and c'
local function list(parts)
   local last = table.remove(parts)
   return #parts == 0 and last or table.concat(parts, ', ') .. ' and ' .. last
end

-- Tensors have not equally many elements; `names`: what the messages of Torch7's function call them.
local function counts(names, ...)
   local parts, sizes = {}, {}
   for i, userdata in ipairs{...} do
      local t = pointer(userdata)
      parts[i], sizes[i] = names[i] .. ' ' .. geometry.describe(t), string.format('%d', geometry.elements(t))
   end
   arguments.raise('inconsistent tensor size, expected %s to have the same number of elements, but got %s elements ' ..
      'respectively', list(parts), list(sizes))
end
kernels.counts = counts

-- Raise the fault `code` of a loop over these tensors, if it is one.
local function fault(code, names, r, a, b)
   if code == C.BR_OK then
      return
   elseif code == C.BR_COUNT then
      counts(names, r, a, b)
   elseif code == C.BR_GONE then
      error('the memory behind a tensor was released or shrunk by its owner, or it has too many dimensions', 0)
   elseif code == C.BR_TYPE then
      error('not available for tensors of type torch.' .. elements[pointer(a or r).dtype].tensor, 0)
   elseif code == C.BR_ZERO then
      error('division by zero', 0)
   elseif code == C.BR_MEMORY then
      error('not enough memory', 0)
   elseif code == C.BR_INDEX then
      arguments.raise('index out of range')
   end
   error('bad value', 0)
end

-- What the operands of loops are called.
local ONE, COPY, PAIR, TRIPLE, COMPARED = {'tensor', 't'}, {'tensor', 'src'}, {'r_', 't', 'src'},
   {'r_', 'src1', 'src2'}, {'r_', 'ta', 'tb'}
local pairnames = {[tonumber(C.BR_CMAX)] = {'r', 't', 'src'}, [tonumber(C.BR_CMIN)] = {'r', 't', 'src'},
   [tonumber(C.BR_ATAN2)] = {'r_', 'tx', 'ty'}}

function kernels.fault(code, ...)
   fault(code, select('#', ...) == 3 and PAIR or COPY, ...)
end

function kernels.fill(r, value)
   local code = C.br_fill(r, value)
   if code ~= 0 then
      fault(refused(code, 'br_fill', r, value), ONE, r)
   end
end

function kernels.copy(r, a)
   local code = C.br_copy(r, a)
   if code ~= 0 then
      fault(refused(code, 'br_copy', r, a), COPY, r, a)
   end
end

function kernels.map(op, r, a, v, w)
   local code = C.br_map(op, r, a, v or 0, w or 0)
   if code ~= 0 then
      fault(refused(code, 'br_map', op, r, a, v or 0, w or 0), PAIR, r, a)
   end
end

function kernels.pair(op, r, a, b, v)
   local code = C.br_pair(op, r, a, b, v or 0)
   if code ~= 0 then
      fault(refused(code, 'br_pair', op, r, a, b, v or 0), pairnames[tonumber(op)] or PAIR, r, a, b)
   end
end

function kernels.triple(op, r, a, b, c, v)
   local code = C.br_triple(op, r, a, b, c, v)
   if code ~= 0 then
      fault(refused(code, 'br_triple', op, r, a, b, c, v), TRIPLE, r, b, c)
   end
end

function kernels.gate(op, r, a, b, v, w)
   local code = C.br_gate(op, r, a, b, v or 0, w or 0)
   if code ~= 0 then
      fault(refused(code, 'br_gate', op, r, a, b, v or 0, w or 0), PAIR, r, a, b)
   end
end

function kernels.compare(op, r, a, b, v)
   local code = C.br_compare(op, r, a, b, v or 0)
   if code ~= 0 then
      fault(refused(code, 'br_compare', op, r, a, b, v or 0), COMPARED, r, a, b)
   end
end

function kernels.reduce(op, a, v)
   local code = C.br_reduce(op, a, v or 0, number)
   if code ~= 0 then
      fault(refused(code, 'br_reduce', op, a, v or 0, number), ONE, a)
   end
   return number[0]
end

function kernels.dot(a, b)
   local code = C.br_dot(a, b, number)
   if code ~= 0 then
      fault(refused(code, 'br_dot', a, b, number), COPY, a, b)
   end
   return number[0]
end

function kernels.distance(a, b, p)
   local code = C.br_distance(a, b, p, number)
   if code ~= 0 then
      fault(refused(code, 'br_distance', a, b, p, number), COPY, a, b)
   end
   return number[0]
end

function kernels.reducedim(op, r, a, dim, v)
   local code = C.br_reduce_dim(op, r, a, dim, v or 0)
   if code ~= 0 then
      fault(refused(code, 'br_reduce_dim', op, r, a, dim, v or 0), PAIR, r, a)
   end
end

function kernels.scan(op, r, a, dim)
   local code = C.br_scan(op, r, a, dim)
   if code ~= 0 then
      fault(refused(code, 'br_scan', op, r, a, dim), PAIR, r, a)
   end
end

-- loops.addmm(...): the loop br_addmm with its own arguments and answer.
kernels.loops = setmetatable({}, {__index = function(loops, key)
   local name = 'br_' .. key
   local loop = assert(loadstring(string.format(
      'local C, refused = ...\nreturn function(...)\n   local code = C.%s(...)\n   if code ~= 0 then\n' ..
      '      return refused(code, %q, ...)\n   end\n   return code\nend\n', name, name), '=torch.kernels.' .. name))(
      C, refused)
   loops[key] = loop
   return loop
end})

return kernels
