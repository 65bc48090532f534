-- torch's kernels that enlarge images and volumes: to the nearest pixel, or linear between pixels whose corners stay.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'

local enlarge = {}

local function pair(name, kinds)
   local n = tonumber(name:match('(%d)d$'))
   return {
      forward = aten.op(name .. '.out', 'TI' .. kinds .. string.rep('n', n) .. 'T'),
      backward = aten.op(name .. '_backward.grad_input', 'TII' .. kinds .. string.rep('n', n) .. 'T'),
   }
end

local kernels = {
   nearest = {[2] = pair('upsample_nearest2d', ''), [3] = pair('upsample_nearest3d', '')},
   linear = {[2] = pair('upsample_bilinear2d', 'b'), [3] = pair('upsample_trilinear3d', 'b')},
}

local function around(t, n)
   return t:dim() == n + 2 and t or shape.single(t)
end

-- `sizes`: those of the output's last n dimensions.
function enlarge.forward(mode, output, input, sizes)
   local n = #sizes
   local to = shape.batched(input, n + 1) and {input:size(1), input:size(2)} or {input:size(1)}
   local from = {input:size(#to)}
   for i = 1, n do
      from[i + 1], to[#to + 1] = input:size(input:dim() - n + i), sizes[i]
   end
   shape.positive(from, {from[1], unpack(sizes)}, 'x')
   shape.resize(output, to)
   local f = kernels[mode][n].forward
   if mode == 'linear' then
      f(around(input, n), sizes, true, around(output, n))
   else
      f(around(input, n), sizes, around(output, n))
   end
   return output
end

function enlarge.backward(mode, gradInput, input, gradOutput, sizes)
   local n = #sizes
   local batch = shape.batched(input, n + 1)
   shape.expect('gradOutput', gradOutput, batch and 2 or 1, input:size(batch and 2 or 1))
   for i = 1, n do
      shape.expect('gradOutput', gradOutput, input:dim() - n + i, sizes[i])
   end
   gradInput:resizeAs(input)
   local inner = around(gradInput, n)
   local f = kernels[mode][n].backward
   if mode == 'linear' then
      f(around(gradOutput, n), sizes, inner:size():totable(), true, inner)
   else
      f(around(gradOutput, n), sizes, inner:size():totable(), inner)
   end
   return gradInput
end

-- The last n sizes of a tensor, times a factor.
function enlarge.scaled(input, n, factor)
   local sizes = {}
   for i = 1, n do
      local d = input:dim() - n + i
      sizes[i] = d > 0 and math.floor(input:size(d) * factor) or 0
   end
   return sizes
end

function enlarge.factor(scale)
   if type(scale) ~= 'number' or not (scale >= 1) then
      error('scale_factor must be greater than 1', 3)
   elseif math.floor(scale) ~= scale then
      error('scale_factor must be integer', 3)
   end
   return scale
end

return enlarge
