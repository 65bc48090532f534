-- Distributed: a Torch7 model whose parameters are at the server. pyps.nn.Distributed is the same for PyTorch, and both
-- train one model together.
local arguments = require 'luaps.arguments'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local meeting = require 'luaps.meeting'
local pieces = require 'luaps.pieces'

local raise = errors.raise

local OPTIONS = {optimizer = arguments.required, name = 'model', timeout = false}
local EXAMPLE = "luaps.distributed(module, kv, {optimizer = {'sgd', lr = 0.1}})"

local Distributed = {}
Distributed.__index = Distributed

local function typename(tensor)
   for _, name in ipairs(elements.names) do
      if elements.byname[name].tensor == elements.tensorclass(tensor) then
         return name
      end
   end
   raise('the parameters are %s; a server trains FloatTensor, DoubleTensor or HalfTensor', errors.shown(tensor))
end

local distributed = {}

function distributed.new(module, kv, options)
   options = arguments.named('luaps.distributed', options or {}, OPTIONS, EXAMPLE)
   local parameters, gradients = module:parameters()
   if not parameters or #parameters == 0 then
      raise('the module has no parameters: there is nothing to train')
   end
   local self = setmetatable({
      name = arguments.text('name', options.name),
      module = module,
      parameters = parameters,
      gradients = gradients,
      dtype = typename(parameters[1]),
      sizes = {},
      pending = {},
   }, Distributed)
   for i, tensor in ipairs(parameters) do
      if typename(tensor) ~= self.dtype then
         raise('parameter %d is %s, and the first one %s; a table has one dtype', i, errors.shown(tensor),
            errors.shown(parameters[1]))
      end
      self.sizes[i] = tensor:nElement()
   end
   self.keys, self.num_keys = pieces.keys(self.sizes)
   meeting.begin(self, kv, options.optimizer, options.timeout or nil)
   self:pull()
   return self
end

-- Read the newest values into the module's parameters. It first waits for this worker's pushes.
function Distributed:pull()
   local pending = self.pending
   self.pending = {}
   self.worker:wait(pending)
   for i, tensor in ipairs(self.parameters) do
      pending[i] = self.worker:pull(self.keys[i], tensor, true)
   end
   self.worker:wait(pending)
end

-- Push the gradients that the module has in its gradParameters, and set these to zero. The server's optimizer applies
-- them; it may end after this call, before the next pull.
function Distributed:push()
   for i, gradient in ipairs(self.gradients) do
      local ok, timestamp = pcall(self.worker.push, self.worker, self.keys[i], gradient, true)
      if not ok then
         raise('the gradient of parameter %d: %s', i, (tostring(timestamp):gsub('^.-luaps: ', '')))
      end
      self.pending[i] = timestamp
   end
   self.module:zeroGradParameters()
end

-- One step: pull, set the gradients to zero, call `compute`, which does the module's forward and backward, and push.
-- Returns what `compute` returned, for example the loss.
function Distributed:step(compute)
   self:pull()
   self.module:zeroGradParameters()
   local loss = compute()
   self:push()
   return loss
end

function Distributed:__tostring()
   return string.format("luaps model '%s': %d parameters, %s", self.name, #self.sizes, tostring(self.worker))
end

return distributed
