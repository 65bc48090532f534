-- A module for one of several GPUs, its output wanted on `outdevice`. A module that is on no GPU is called as it is.
local GPU, parent = torch.class('nn.GPU', 'nn.Decorator')

function GPU:__init(module, device, outdevice)
   parent.__init(self, module)
   if torch.type(device) ~= 'number' then
      error('nn.GPU: a device number expected, got ' .. torch.type(device))
   end
   self.device = device
   self.outdevice = outdevice or device
   if torch.type(self.outdevice) ~= 'number' or not (self.device >= 0 and self.outdevice >= 0) then
      error('nn.GPU: devices are numbers from 0 on')
   end
end

-- Only modules that are on a GPU move between devices.
local function ongpu(self)
   return self._type:find('Cuda') and cutorch
end

local function call(self, method, ...)
   local module = self.modules[1]
   if self.device > 0 and ongpu(self) then
      return cutorch.withDevice(self.device, module[method], module, ...)
   end
   return module[method](module, ...)
end

-- A copy on the output's device, or back on the module's.
local function moved(self, device, value)
   if self.device == self.outdevice or device == 0 or not ongpu(self) then
      return value
   end
   return cutorch.withDevice(device, function() return nn.utils.recursiveCopy(nil, value) end)
end

function GPU:updateOutput(input)
   self.output = moved(self, self.outdevice, call(self, 'updateOutput', input))
   return self.output
end

function GPU:updateGradInput(input, gradOutput)
   self._gradOutput = moved(self, self.device, gradOutput)
   self.gradInput = call(self, 'updateGradInput', input, self._gradOutput)
   return self.gradInput
end

function GPU:accGradParameters(input, gradOutput, scale)
   call(self, 'accGradParameters', input, self._gradOutput or gradOutput, scale)
end

function GPU:accUpdateGradParameters(input, gradOutput, lr)
   call(self, 'accUpdateGradParameters', input, self._gradOutput or gradOutput, lr)
end

function GPU:sharedAccUpdateGradParameters(input, gradOutput, lr)
   call(self, 'sharedAccUpdateGradParameters', input, self._gradOutput or gradOutput, lr)
end

for _, method in ipairs{'apply', 'zeroGradParameters', 'updateParameters', 'training', 'evaluate', 'share', 'reset'} do
   GPU[method] = function(self, ...)
      if self.device > 0 and ongpu(self) then
         return cutorch.withDevice(self.device, parent[method], self, ...)
      end
      return parent[method](self, ...)
   end
end

function GPU:setDevice(device)
   self.device = device or self.device
   return self
end

function GPU:clearState()
   nn.utils.clear(self, '_gradOutput')
   return parent.clearState(self)
end

function GPU:__tostring__()
   return torch.type(self) .. '(' .. self.device .. ') @ ' .. tostring(self.modules[1])
end
