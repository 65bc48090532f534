-- Pixels for loops: a picture as contiguous float or double memory of channels x height x width, and the way back.
local ffi = require 'ffi'
local calls = require 'image.calls'

local plane = {}

-- What pictures of a type are computed in.
local function working(tensor)
   local kind = tensor:type()
   return (kind == 'torch.FloatTensor' or kind == 'torch.ByteTensor') and 'torch.FloatTensor' or 'torch.DoubleTensor'
end

-- A number as a C float keeps it: where the original computes in floats, the same pixels are chosen.
local single = ffi.new('float[1]')
function plane.float(number)
   single[0] = number
   return single[0]
end

local function same(number)
   return number
end

-- {tensor, data, channels, height, width, round} of a picture with two or three dimensions; round(number) is the number
-- as an element of the tensor keeps it.
function plane.of(tensor, name, position)
   calls.tensor(tensor, name)
   local dims = tensor:dim()
   if dims ~= 2 and dims ~= 3 then
      error(string.format("bad argument #%d to '%s' (%s: %s not 2 or 3 dimensional)", position or 1, name, name,
         position == 2 and 'dst' or 'src'), 0)
   end
   local held = tensor:type(working(tensor)):contiguous()
   return {tensor = held, data = held:data(), channels = dims == 3 and tensor:size(1) or 1,
      height = tensor:size(dims - 1), width = tensor:size(dims),
      round = held:type() == 'torch.FloatTensor' and plane.float or same}
end

-- A new plane of the same type.
function plane.like(source, height, width, channels)
   channels = channels or source.channels
   local held = source.tensor.new(channels, height, width)
   return {tensor = held, data = held:data(), channels = channels, height = height, width = width,
      round = source.round}
end

-- Bytes are rounded and kept between 0 and 255; all other types take the number as it is.
function plane.settle(made, kind)
   if kind == 'torch.ByteTensor' then
      made.tensor:add(0.5):clamp(0, 255):floor()
   end
   return made.tensor
end

-- Copy what was computed into `destination`, which has as many elements.
function plane.store(destination, made)
   destination:copy(plane.settle(made, destination:type()):viewAs(destination))
   return destination
end

-- Do both have the same dimensions and channels?
function plane.match(source, destination, name)
   if source:dim() ~= destination:dim() or source:dim() == 3 and source:size(1) ~= destination:size(1) then
      error('image.' .. name .. ': src and dst depths do not match', 0)
   end
end

return plane
