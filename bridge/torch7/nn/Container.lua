-- A module made of modules.
local letgo = require 'nn.shared.letgo'

local Container, parent = torch.class('nn.Container', 'nn.Module')

local WARNING = 'WARNING: If you see a stack trace below, it doesn\'t point to the place where this error occurred. '
   .. 'Please use only the one above.'

function Container:__init(...)
   parent.__init(self, ...)
   self.modules = {}
end

function Container:add(module)
   table.insert(self.modules, module)
   return self
end

function Container:get(index)
   return self.modules[index]
end

function Container:size()
   return #self.modules
end

-- The message with the stack at the place of the error, unless a container further inside has added that.
local function traced(message)
   if type(message) ~= 'string' or message:find(WARNING, 1, true) then
      return message
   end
   return debug.traceback(message, 2) .. '\n\n' .. WARNING
end

local function placed(self, index, message)
   local _, newline = message:find('\n', 1, true)
   local start = message:find('\nIn %d+ module of ')
   if start and start == newline then -- a container inside has said where: leave out its own position
      message = message:sub(newline + 1)
   end
   return string.format('\nIn %d module of %s:\n%s', index, torch.type(self), message)
end

-- Call a method of a module inside; an error says which module it was.
function Container:rethrowErrors(module, index, method, ...)
   local ok, result, extra = xpcall(module[method], traced, module, ...)
   if ok then
      if extra ~= nil then
         error('rethrowErrors supports only one return argument')
      end
      return result
   elseif type(result) ~= 'string' then
      error(result, 0)
   end
   error(placed(self, index, result))
end

function Container:applyToModules(func)
   for _, module in ipairs(self.modules) do
      func(module)
   end
end

function Container:zeroGradParameters()
   self:applyToModules(function(module) module:zeroGradParameters() end)
end

function Container:updateParameters(learningRate)
   self:applyToModules(function(module) module:updateParameters(learningRate) end)
end

function Container:training()
   self:applyToModules(function(module) module:training() end)
   parent.training(self)
end

function Container:evaluate()
   self:applyToModules(function(module) module:evaluate() end)
   parent.evaluate(self)
end

function Container:share(other, ...)
   for i, module in ipairs(self.modules) do
      module:share(other.modules[i], ...)
   end
   return self
end

function Container:reset(stdv)
   self:applyToModules(function(module) module:reset(stdv) end)
end

function Container:parameters()
   local weights, gradWeights = {}, {}
   for _, module in ipairs(self.modules) do
      local w, g = module:parameters()
      for i, weight in ipairs(w or {}) do
         weights[#weights + 1] = weight
         gradWeights[#gradWeights + 1] = g[i]
      end
   end
   return weights, gradWeights
end

function Container:clearState()
   letgo(self, 'output', 'gradInput') -- they may be modules'
   self:applyToModules(function(module) module:clearState() end)
   return self
end
