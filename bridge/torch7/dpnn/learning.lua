-- What learning does to parameters and their gradients: norms, decay, momentum; rewards.
--
-- A module's own fields (maxOutNorm, cutoffNorm, wdFactor, momFactor, ...) go before the arguments.
local Module = nn.Module

local function inside(self, name, ...)
   for _, module in ipairs(self.modules) do
      module[name](module, ...)
   end
end

-- Scale rows (what feeds into a neuron) and columns (what feeds out of one) of parameters down to a norm.
function Module:maxParamNorm(maxOutNorm, maxInNorm)
   maxOutNorm, maxInNorm = self.maxOutNorm or maxOutNorm, self.maxInNorm or maxInNorm
   if not (maxOutNorm or maxInNorm) then
      return
   elseif self.modules then
      return inside(self, 'maxParamNorm', maxOutNorm, maxInNorm)
   end
   for _, parameter in pairs(self:parameters() or {}) do
      if parameter:dim() > 1 then
         if maxOutNorm and maxOutNorm > 0 then
            parameter:renorm(2, 1, maxOutNorm)
         end
         if maxInNorm and maxInNorm > 0 then
            parameter:renorm(2, parameter:dim(), maxInNorm)
         end
      end
   end
end

-- Scale all gradients down so that their common norm is at most cutoffNorm (with moduleLocal, each module's); the norm
-- that they had.
function Module:gradParamClip(cutoffNorm, moduleLocal)
   cutoffNorm = self.cutoffNorm or cutoffNorm
   if cutoffNorm <= 0 then
      return
   end
   if self.moduleLocal ~= nil then
      moduleLocal = self.moduleLocal
   end
   local sum = 0
   if moduleLocal and self.modules then
      for _, module in ipairs(self.modules) do
         sum = sum + module:gradParamClip(cutoffNorm, moduleLocal) ^ 2
      end
      return math.sqrt(sum)
   end
   local _, gradients = self:parameters()
   for _, gradient in pairs(gradients or {}) do
      sum = sum + gradient:norm() ^ 2
   end
   local norm = math.sqrt(sum)
   if norm > cutoffNorm then
      for _, gradient in pairs(gradients) do
         gradient:mul(cutoffNorm / norm)
      end
   end
   return norm
end

-- Add wdFactor times the parameters to the gradients of those with at least wdMinDim (2) dimensions.
function Module:weightDecay(wdFactor, wdMinDim)
   wdFactor = self.wdFactor or wdFactor
   if wdFactor <= 0 then
      return
   end
   wdMinDim = self.wdMinDim or wdMinDim or 2
   if self.modules then
      return inside(self, 'weightDecay', wdFactor, wdMinDim)
   end
   local parameters, gradients = self:parameters()
   for i, parameter in pairs(parameters or {}) do
      if parameter:dim() >= wdMinDim then
         gradients[i]:add(wdFactor, parameter)
      end
   end
end

-- The moving averages of gradients; nil where there are none.
function Module:momentumGradParameters()
   if not self.momGradParams or next(self.momGradParams) == nil then
      local _, gradients = self:parameters()
      if not gradients or next(gradients) == nil then
         return
      end
      self.momGradParams = {}
      for i, gradient in pairs(gradients) do
         self.momGradParams[i] = gradient:clone()
      end
   end
   return self.momGradParams
end

-- Make gradients of momentum of gradients: average = momFactor * average + (1 - momDamp) * gradient.
function Module:updateGradParameters(momFactor, momDamp, momNesterov)
   momFactor = self.momFactor or momFactor
   if momFactor <= 0 then
      return
   end
   momDamp = self.momDamp or momDamp or momFactor
   if self.momNesterov ~= nil then
      momNesterov = self.momNesterov
   end
   if self.modules then
      return inside(self, 'updateGradParameters', momFactor, momDamp, momNesterov)
   end
   local _, gradients = self:parameters()
   local averages = self:momentumGradParameters()
   for i, gradient in pairs(averages and gradients or {}) do
      averages[i]:mul(momFactor):add(1 - momDamp, gradient)
      if momNesterov then
         gradient:add(momFactor, averages[i])
      else
         gradient:copy(averages[i])
      end
   end
end

-- An error if a parameter is NaN.
function Module:checkParameters()
   for i, parameter in pairs(self:parameters() or {}) do
      local sum = parameter:sum()
      if sum ~= sum then
         error('NaN Error for param at index ' .. i)
      end
   end
end

-- Tell modules inside how good their choices were.
function Module:reinforce(reward)
   for _, module in ipairs(self.modules or {}) do
      module:reinforce(reward)
   end
end
