-- nn.hessian: after nn.hessian.enable() modules and criterions compute the diagonal of second derivatives too, in an
-- approximation that leaves out what their own second derivatives add: LeCun, Bottou, Orr & Mueller (1998).
local hessian = {}
nn.hessian = hessian

-- The input's, from the output's: the transposed weights, squared, applied to them.
local function throughweight(module, input, diagHessianOutput, w, wsq)
   module[wsq] = module[wsq] or module[w].new()
   module[wsq]:resizeAs(module[w]):cmul(module[w], module[w])
   local gradInput, weight = module.gradInput, module[w]
   module.gradInput = module.diagHessianInput or weight.new()
   module[w] = module[wsq]
   module.diagHessianInput = module.updateGradInput(module, input, diagHessianOutput)
   module.gradInput, module[w] = gradInput, weight
   return module.diagHessianInput
end

-- The same where each number of the input makes one of the output: by the squared derivative.
local function pointwise(module, input, diagHessianOutput)
   local gradInput = module.gradInput
   module.gradInput = module.diagHessianInput or input.new()
   local slope = module:updateGradInput(input, torch.Tensor():typeAs(input):resizeAs(diagHessianOutput):fill(1))
   module.diagHessianInput = slope:cmul(slope:clone()):cmul(diagHessianOutput)
   module.gradInput = gradInput
   return module.diagHessianInput
end

-- Where numbers are only moved, so are their derivatives.
local function moved(module, input, diagHessianOutput)
   local gradInput = module.gradInput
   module.gradInput = module.diagHessianInput or input.new()
   module.diagHessianInput = module:updateGradInput(input, diagHessianOutput)
   module.gradInput = gradInput
   return module.diagHessianInput
end

-- The parameters': the gradients that squared inputs would give.
local function accumulate(module, input, diagHessianOutput)
   local squared = torch.cmul(input, input)
   local gradWeight, gradBias = module.gradWeight, module.gradBias
   module.gradWeight, module.gradBias = module.diagHessianWeight, module.diagHessianBias
   module.accGradParameters(module, squared, diagHessianOutput, 1)
   module.gradWeight, module.gradBias = gradWeight, gradBias
end

local function zeros(module, gradient, name)
   local shape = module[gradient]
   if shape then
      module[name] = module[name] or shape.new()
      module[name]:resizeAs(shape):zero()
   end
end

local weighted = {'Linear', 'SpatialConvolution', 'SpatialConvolutionLocal', 'SpatialFullConvolution',
   'SpatialConvolutionMap', 'SpatialFullConvolutionMap', 'TemporalConvolution'}
local elementwise = {'Tanh', 'TanhShrink', 'Square', 'Sqrt', 'Sigmoid', 'SoftPlus', 'Threshold', 'ReLU', 'HardTanh',
   'Abs', 'Exp', 'Log', 'LogSigmoid', 'SoftSign', 'MulConstant'}
local moving = {'Identity', 'Reshape', 'View', 'SpatialMaxPooling', 'SpatialZeroPadding', 'Dropout', 'AddConstant'}

local function each(names, f)
   for _, name in ipairs(names) do
      if nn[name] then
         f(nn[name])
      end
   end
end

local function enablemodules()
   function nn.Module.updateDiagHessianInput()
      error('updateDiagHessianInput() is undefined for this module', 2)
   end

   function nn.Module.accDiagHessianParameters()
   end

   function nn.Module:backwardDiagHessian(input, diagHessianOutput)
      local result = self:updateDiagHessianInput(input, diagHessianOutput)
      self:accDiagHessianParameters(input, diagHessianOutput)
      return result
   end

   function nn.Module:initDiagHessianParameters()
      zeros(self, 'gradWeight', 'diagHessianWeight')
      zeros(self, 'gradBias', 'diagHessianBias')
   end

   function nn.Module:diagHessianParameters()
      local list = {self.weight and self.diagHessianWeight, self.bias and self.diagHessianBias}
      return list[1] and list or list[2] and {list[2]} or nil
   end

   each(weighted, function(class)
      function class:updateDiagHessianInput(input, diagHessianOutput)
         return throughweight(self, input, diagHessianOutput, 'weight', 'weightSq')
      end
      class.accDiagHessianParameters = accumulate
   end)
   each(elementwise, function(class) class.updateDiagHessianInput = pointwise end)
   each(moving, function(class) class.updateDiagHessianInput = moved end)
end

local function enablecontainers()
   function nn.Container:initDiagHessianParameters()
      self:applyToModules(function(module) module:initDiagHessianParameters() end)
   end

   function nn.Container:diagHessianParameters()
      local list = {}
      for _, module in ipairs(self.modules) do
         for _, tensor in ipairs(module:diagHessianParameters() or {}) do
            list[#list + 1] = tensor
         end
      end
      return list
   end

   for _, name in ipairs{'backwardDiagHessian', 'updateDiagHessianInput'} do
      nn.Sequential[name] = function(self, input, diagHessianOutput)
         for i = #self.modules, 1, -1 do
            local before = i > 1 and self.modules[i - 1].output or input
            diagHessianOutput = self.modules[i][name](self.modules[i], before, diagHessianOutput)
         end
         self.diagHessianInput = diagHessianOutput
         return diagHessianOutput
      end
   end

   function nn.Sequential:accDiagHessianParameters(input, diagHessianOutput)
      for i = #self.modules, 1, -1 do
         local before = i > 1 and self.modules[i - 1].output or input
         self.modules[i]:accDiagHessianParameters(before, diagHessianOutput)
         diagHessianOutput = self.modules[i].diagHessianInput
      end
   end
end

local function enablecriterions()
   function nn.Criterion:backwardDiagHessian(input, target)
      return self:updateDiagHessianInput(input, target)
   end

   function nn.Criterion.updateDiagHessianInput()
      error('updateDiagHessianInput() is undefined for this criterion', 2)
   end

   function nn.MSECriterion:updateDiagHessianInput(input)
      self.diagHessianInput = self.diagHessianInput or input.new()
      self.diagHessianInput:resizeAs(input):fill(self.sizeAverage and 2 / input:nElement() or 2)
      return self.diagHessianInput
   end
end

-- All parameters' second derivatives as one vector, beside getParameters' two.
local function enableparameters()
   local getParameters = nn.Module.getParameters
   function nn.Module:getParameters()
      local second = self:diagHessianParameters()
      local parameters, gradients = getParameters(self)
      if second and #second > 0 then
         return parameters, gradients, nn.Module.flatten(second)
      end
      return parameters, gradients
   end
end

local enabled = false

function hessian.enable()
   if not enabled then
      enabled = true
      enablemodules()
      enablecontainers()
      enablecriterions()
      enableparameters()
   end
end

return hessian
