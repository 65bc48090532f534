-- The loops of bridge/core/loops/indexing.h for tensors on the device. Indices and masks may be on the CPU; what they
-- say is looked at before it is used, because a device's kernel that meets a bad index ends every later call.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local aten = require 'torch.aten'
local place = require 'cutorch.device.place'
local order = require 'cutorch.device.order'

local C = native.C
local tensor = object.tensor
local op, fresh, shaped = aten.op, place.fresh, place.shaped

-- Indices on the device, counted from 0; nothing if some are not in 1 .. limit.
local function fromzero(indices, limit)
   indices = place.there(indices)
   if kernels.reduce(C.BR_MIN, indices) < 1 or kernels.reduce(C.BR_MAX, indices) > limit then
      return nil
   end
   local counted = fresh(indices)
   order.fromzero(counted, indices)
   return counted
end

local select, copy = op('index_select.out', 'TiTT'), op('index_copy_', 'TiTT')
local fill, add = op('index_fill_.int_Tensor', 'TiTS'), op('scatter_add_', 'TiTT')

-- The vector `counted` along dimension d of another tensor's sizes.
local function spread(counted, like, d)
   local sizes, shape = like:size():totable(), {}
   for k = 1, #sizes do
      shape[k] = k == d + 1 and sizes[k] or 1
   end
   return counted:view(unpack(shape)):expand(unpack(sizes))
end

local loops = {}

function loops.br_index(which, r, a, d, indices, v)
   local chosen = which == C.BR_INDEX_SELECT and a or r
   local counted = fromzero(indices, tonumber(tensor(chosen).size[d]))
   if not counted then
      return C.BR_INDEX
   elseif which == C.BR_INDEX_SELECT then
      local whole = geometry.contiguous(tensor(r)) and r or fresh(r)
      select(a, d, counted, whole)
      if whole ~= r then
         kernels.copy(r, whole)
      end
      return C.BR_OK
   elseif which == C.BR_INDEX_FILL then
      fill(r, d, counted, v)
      return C.BR_OK
   end
   local n, slices = tonumber(tensor(counted).size[0]), tonumber(tensor(r).size[d])
   if tensor(a).nDimension <= d or tensor(a).size[d] ~= n
      or geometry.elements(tensor(a)) / n ~= geometry.elements(tensor(r)) / slices then
      return C.BR_COUNT
   end
   local sizes = r:size()
   sizes[d + 1] = n
   if tensor(a).nDimension ~= #sizes or not a:isSize(sizes) then
      a = a:contiguous():view(sizes)
   end
   if which == C.BR_INDEX_COPY then
      copy(r, d, counted, a)
   else
      add(r, d, spread(counted, a, d), a)
   end
   return C.BR_OK
end

-- Do the sizes of `inner` fit into `outer` (in all dimensions but d)?
local function within(inner, outer, d)
   local a, b = tensor(inner), tensor(outer)
   if a.nDimension ~= b.nDimension then
      return false
   end
   for k = 0, a.nDimension - 1 do
      if k ~= d and a.size[k] > b.size[k] then
         return false
      end
   end
   return true
end

local gather, scatter = op('gather.out', 'TiTbT'), op('scatter_.src', 'TiTT')

function loops.br_gather(r, a, d, indices)
   if not within(indices, a, d) then
      return C.BR_COUNT
   end
   local counted = fromzero(indices, tonumber(tensor(a).size[d]))
   if not counted then
      return C.BR_INDEX
   end
   gather(a, d, counted, false, r)
   return C.BR_OK
end

function loops.br_scatter(r, a, d, indices, v)
   if not within(indices, r, d) or a and not within(indices, a, -1) then
      return C.BR_COUNT
   end
   local counted = fromzero(indices, tonumber(tensor(r).size[d]))
   if not counted then
      return C.BR_INDEX
   end
   if not a then
      a = fresh(counted, tensor(r).dtype)
      kernels.fill(a, v)
   end
   scatter(r, d, counted, a)
   return C.BR_OK
end

-- Call act(mask, count) with the mask on the device, in the sizes of `like`, and how many of it are 1; the code of what
-- is wrong instead. `others`, if there is one, is a tensor with an element for each 1.
local function masked(mask, like, others, act)
   if geometry.elements(tensor(mask)) ~= geometry.elements(tensor(like)) then
      return C.BR_COUNT
   end
   mask = shaped(place.there(mask), like)
   if kernels.reduce(C.BR_MAX, mask) > 1 then
      return C.BR_VALUE
   end
   local count = kernels.reduce(C.BR_SUM, mask)
   if others and geometry.elements(tensor(others)) < count then
      return C.BR_INDEX
   end
   act(mask, count)
   return C.BR_OK
end

local maskfill, maskcopy = op('masked_fill_.Tensor', 'TMS'), op('masked_scatter_', 'TMT')
local maskselect, nonzero = aten.into('masked_select', 'TM', 1), aten.into('nonzero', 'T', 1)

function loops.br_mask_count(mask, count)
   return masked(mask, mask, nil, function(_, n) count[0] = n end)
end

function loops.br_masked_fill(r, mask, v)
   return masked(mask, r, nil, function(there) maskfill(r, there, v) end)
end

function loops.br_masked_copy(r, mask, a)
   return masked(mask, r, a, function(there) maskcopy(r, there, a) end)
end

function loops.br_masked_select(r, a, mask)
   return masked(mask, a, r, function(there) maskselect(a, there, r) end)
end

function loops.br_nonzero(r, a)
   nonzero(a, r)
   order.fromone(r, r)
   return C.BR_OK
end

function loops.br_index_from_zero(r, indices, limit)
   local counted = fromzero(indices, limit)
   if not counted then
      return C.BR_INDEX
   end
   kernels.copy(r, counted)
   return C.BR_OK
end

local equal = op('eq.Tensor_out', 'TTT')

function loops.br_equal(a, b, result)
   local same = geometry.samesize(tensor(a), tensor(b))
   if same and tensor(a).nDimension > 0 then
      local each = fresh(a, elements.beside(elements.Byte.id, tensor(a).dtype))
      equal(a, b, each)
      same = kernels.reduce(C.BR_MIN, each) == 1
   end
   result[0] = same and 1 or 0
   return C.BR_OK
end

return loops
