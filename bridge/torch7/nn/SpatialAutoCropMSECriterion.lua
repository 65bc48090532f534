-- The mean (or sum) of squared differences between images and the middle, of the same size, of larger targets.
local SpatialAutoCropMSECriterion, parent = torch.class('nn.SpatialAutoCropMSECriterion', 'nn.MSECriterion')

local function cropped(input, target)
   local dimensions = input:dim()
   if dimensions ~= target:dim() then
      error('input and target must have the same number of dimensions', 3)
   elseif dimensions ~= 3 and dimensions ~= 4 then
      error('only 3D and 4D inputs are supported', 3)
   end
   for d = dimensions - 1, dimensions do
      local margin = target:size(d) - input:size(d)
      if margin < 0 then
         error(string.format('input (%d) is larger than target (%d) in dimension %d', input:size(d), target:size(d), d),
            3)
      end
      target = target:narrow(d, math.floor(margin / 2) + 1, input:size(d))
   end
   return target
end

function SpatialAutoCropMSECriterion:updateOutput(input, target)
   return parent.updateOutput(self, input, cropped(input, target))
end

function SpatialAutoCropMSECriterion:updateGradInput(input, target)
   return parent.updateGradInput(self, input, cropped(input, target))
end
