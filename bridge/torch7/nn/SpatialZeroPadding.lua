-- Images with a border of zeros, or without a border where the padding is negative.
local shape = require 'nn.shared.shape'

local SpatialZeroPadding, parent = torch.class('nn.SpatialZeroPadding', 'nn.Module')

function SpatialZeroPadding:__init(pad_l, pad_r, pad_t, pad_b)
   parent.__init(self)
   self.pad_l = pad_l
   self.pad_r = pad_r or self.pad_l
   self.pad_t = pad_t or self.pad_l
   self.pad_b = pad_b or self.pad_l
end

-- The part of a padded tensor that is the input's, and the part of the input.
local function parts(self, padded, input)
   for d, pads in pairs{[-1] = {self.pad_l, self.pad_r}, [-2] = {self.pad_t, self.pad_b}} do
      local dim, before, behind = input:dim() + d + 1, pads[1], pads[2]
      if before ~= 0 or behind ~= 0 then
         local size = input:size(dim) + math.min(before, 0) + math.min(behind, 0)
         padded = padded:narrow(dim, 1 + math.max(before, 0), size)
         input = input:narrow(dim, 1 - math.min(before, 0), size)
      end
   end
   return padded, input
end

local function sizes(self, input)
   shape.batched(input, 3)
   local list, n = input:size():totable(), input:dim()
   list[n - 1] = list[n - 1] + self.pad_t + self.pad_b
   list[n] = list[n] + self.pad_l + self.pad_r
   if list[n - 1] < 1 or list[n] < 1
         or math.min(self.pad_t, 0) + math.min(self.pad_b, 0) <= -input:size(n - 1)
         or math.min(self.pad_l, 0) + math.min(self.pad_r, 0) <= -input:size(n) then
      error('input is too small')
   end
   return list
end

-- Zeros at both ends of a dimension.
local function zeroends(t, dim, before, behind)
   if before > 0 then
      t:narrow(dim, 1, before):zero()
   end
   if behind > 0 then
      t:narrow(dim, t:size(dim) - behind + 1, behind):zero()
   end
end

function SpatialZeroPadding:updateOutput(input)
   local output = shape.resize(self.output, sizes(self, input))
   zeroends(output, output:dim() - 1, self.pad_t, self.pad_b)
   zeroends(output, output:dim(), self.pad_l, self.pad_r)
   local padded, part = parts(self, self.output, input)
   padded:copy(part)
   return self.output
end

function SpatialZeroPadding:updateGradInput(input, gradOutput)
   for d, size in ipairs(sizes(self, input)) do
      shape.expect('gradOutput', gradOutput, d, size)
   end
   local gradInput = self.gradInput:resizeAs(input)
   zeroends(gradInput, input:dim() - 1, -self.pad_t, -self.pad_b)
   zeroends(gradInput, input:dim(), -self.pad_l, -self.pad_r)
   local padded, part = parts(self, gradOutput, self.gradInput)
   part:copy(padded)
   return self.gradInput
end

function SpatialZeroPadding:__tostring__()
   return string.format('%s(l=%d, r=%d, t=%d, b=%d)', torch.type(self), self.pad_l, self.pad_r, self.pad_t, self.pad_b)
end
