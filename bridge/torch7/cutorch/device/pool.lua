-- The loops of bridge/core/loops/max_pooling.h for tensors on the device: torch's maxima of windows, whose places
-- count from 0.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local aten = require 'torch.aten'
local order = require 'cutorch.device.order'
local place = require 'cutorch.device.place'

local C = native.C
local tensor = object.tensor

local images = aten.op('max_pool2d_with_indices.out', 'TIIIIbTT', 2)
local volumes = aten.op('max_pool3d_with_indices.out', 'TIIIIbTT', 2)
local scatter = aten.op('scatter_add_', 'TiTT')

-- The numbers of axes first .. 2 of an array in br_windows.
local function axes(array, first)
   local values = {}
   for d = first, 2 do
      values[#values + 1] = tonumber(array[d])
   end
   return values
end

local function volume(size)
   return tonumber(size[0] * size[1] * size[2])
end

-- Is the one axis that an image lacks all there is of it?
local function flat(w)
   return w.from[0] == 1 and w.to[0] == 1 and w.kernel[0] == 1 and w.padding[0] == 0
end

-- Does the last window along an axis go over the edge, or does torch have to be asked for one that does?
local function ceiling(w)
   for d = 0, 2 do
      local room = w.from[d] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1
      if w.to[d] > math.floor(tonumber(room) / tonumber(w.stride[d])) + 1 then
         return true
      end
   end
   return false
end

-- Does window i meet an element along axis d?
local function meets(w, d, i)
   local start = i * w.stride[d] - w.padding[d]
   for tap = 0, tonumber(w.kernel[d]) - 1 do
      local at = start + tap * w.dilation[d]
      if at >= 0 and at < w.from[d] then
         return true
      end
   end
   return false
end

-- Windows whose taps pass by the plane have no place; torch gives them one that may lie outside.
local function forget(w, indices, first)
   for d = first, 2 do
      if w.dilation[d] > 1 and w.padding[d] > 0 then
         for i = 0, tonumber(w.to[d]) - 1 do
            if not meets(w, d, i) then
               kernels.fill(indices:narrow(d - first + 2, i + 1, 1), 0)
            end
         end
      end
   end
end

-- What the CPU's loops refuse, as their code.
local function refusal(large, small, indices, w)
   local dtype, planes = object.dtype(large), tonumber(w.planes)
   if dtype ~= object.dtype(small) or elements[dtype].integer
      or object.dtype(indices) ~= elements.beside(elements.Long.id, dtype) then
      return C.BR_TYPE
   elseif geometry.elements(tensor(large)) ~= planes * volume(w.from)
      or geometry.elements(tensor(small)) ~= planes * volume(w.to)
      or geometry.elements(tensor(indices)) ~= planes * volume(w.to) then
      return C.BR_COUNT
   end
end

local loops = {}

function loops.br_max_pool(output, indices, input, w)
   local refused = refusal(input, output, indices, w)
   if refused then
      return refused
   end
   local planes, first = tonumber(w.planes), flat(w) and 1 or 0
   input = input:view(planes, unpack(axes(w.from, first)))
   output, indices = output:view(planes, unpack(axes(w.to, first))), indices:view(planes, unpack(axes(w.to, first)))
   local pool = first == 1 and images or volumes
   pool(input, axes(w.kernel, first), axes(w.stride, first), axes(w.padding, first), axes(w.dilation, first),
      ceiling(w), output, indices)
   order.fromone(indices, indices)
   forget(w, indices, first)
   return C.BR_OK
end

-- Sums by place, which torch's own kernels do not check.
function loops.br_max_pool_back(gradInput, gradOutput, indices, w)
   local refused = refusal(gradInput, gradOutput, indices, w)
   if refused then
      return refused
   end
   local planes, from, to = tonumber(w.planes), volume(w.from), volume(w.to)
   local least = kernels.reduce(C.BR_MIN, indices)
   if least < 0 or kernels.reduce(C.BR_MAX, indices) > from then
      return C.BR_INDEX
   end
   gradOutput, indices = gradOutput:view(planes, to), indices:view(planes, to)
   if least == 0 then -- of windows without a place, whose sums come to lie before the plane
      local wide = place.vector(object.dtype(gradInput), planes * (from + 1)):view(planes, from + 1)
      kernels.fill(wide, 0)
      scatter(wide, 1, indices, gradOutput)
      kernels.copy(gradInput, wide:narrow(2, 2, from))
   else
      local places = place.fresh(indices)
      order.fromzero(places, indices)
      kernels.fill(gradInput, 0)
      scatter(gradInput:view(planes, from), 1, places, gradOutput)
   end
   return C.BR_OK
end

return loops
