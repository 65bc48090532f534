-- One module for each entry of a table: clones that share their parameters, unless `shared` is false.
local MapTable, parent = torch.class('nn.MapTable', 'nn.Container')

function MapTable:__init(module, shared)
   parent.__init(self)
   self.shared = shared == nil or shared
   self.sharedParams = {'weight', 'bias', 'gradWeight', 'gradBias'}
   self.output = {}
   self.gradInput = {}
   if module then
      self:add(module)
   end
end

function MapTable:_extend(n)
   self.sharedParams = self.sharedParams or {'weight', 'bias', 'gradWeight', 'gradBias'}
   if n > 0 and not self.module then
      error('nn.MapTable: no module was added', 3)
   end
   self.modules[1] = self.module
   for i = #self.modules + 1, n do
      if self.shared then
         self.modules[i] = self.module:clone(unpack(self.sharedParams))
      else
         self.modules[i] = self.module:clone()
      end
   end
end

function MapTable:resize(n)
   self:_extend(n)
   for i = #self.modules, n + 1, -1 do -- an empty table has to keep its module
      self.modules[math.max(i, 2)] = nil
   end
end

function MapTable:add(module)
   if self.module then
      error('Single module required')
   end
   self.module = module
   self.modules[1] = module
   return self
end

local function fit(buffers, count)
   for i = #buffers, count + 1, -1 do
      buffers[i] = nil
   end
   return buffers
end

function MapTable:updateOutput(input)
   self:_extend(#input)
   self.output = fit(self.output, #input)
   for i = 1, #input do
      self.output[i] = self:rethrowErrors(self.modules[i], i, 'updateOutput', input[i])
   end
   return self.output
end

function MapTable:updateGradInput(input, gradOutput)
   self:_extend(#input)
   self.gradInput = fit(self.gradInput, #input)
   for i = 1, #input do
      self.gradInput[i] = self:rethrowErrors(self.modules[i], i, 'updateGradInput', input[i], gradOutput[i])
   end
   return self.gradInput
end

function MapTable:accGradParameters(input, gradOutput, scale)
   self:_extend(#input)
   for i = 1, #input do
      self:rethrowErrors(self.modules[i], i, 'accGradParameters', input[i], gradOutput[i], scale or 1)
   end
end

function MapTable:accUpdateGradParameters(input, gradOutput, lr)
   self:_extend(#input)
   for i = 1, #input do
      self:rethrowErrors(self.modules[i], i, 'accUpdateGradParameters', input[i], gradOutput[i], lr or 1)
   end
end

-- With shared parameters, what one module does is done for all.
function MapTable:zeroGradParameters()
   if self.shared and self.module then
      self.module:zeroGradParameters()
   else
      parent.zeroGradParameters(self)
   end
end

function MapTable:updateParameters(learningRate)
   if self.shared and self.module then
      self.module:updateParameters(learningRate)
   else
      parent.updateParameters(self, learningRate)
   end
end

function MapTable:clearState()
   self:resize(1)
   return parent.clearState(self)
end

function MapTable:__tostring__()
   if not self.module then
      return torch.type(self) .. ' { }'
   end
   return torch.type(self) .. ' {\n  ' .. tostring(self.module):gsub('\n', '\n  ') .. '\n}'
end
