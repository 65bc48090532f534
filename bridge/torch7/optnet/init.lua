-- The optnet package: let tensors of a network that are not needed at the same time share memory.
--
-- Mode 'inference' (default) shares outputs; then there is no backward pass. Mode 'training' shares gradInputs, for
-- networks that go back by `backward`. Tensors are shared whose lifetimes are sure; the others stay as they are, and
-- modules work in place only where `inplace` asks for it.
require 'nn'
local lifetimes = require 'optnet.lifetimes'

local optnet = {}

local BLOCKED = 'Backward pass disabled! The network was optimized for inference: call optnet.removeOptimization(net) '
   .. 'to have it back'

local function blocked()
   error(BLOCKED, 2)
end

-- Give storages to lives that follow one another.
local function share(lives)
   local ends, storages = {}, {} -- when a storage is free again
   for _, life in ipairs(lives) do
      local any = next(life.tensors)
      local old, place = any:storage(), nil
      for i, last in ipairs(ends) do
         if last < life.first and torch.type(storages[i]) == torch.type(old) then
            place = i
            break
         end
      end
      if not place then
         place = #ends + 1
         storages[place] = old
      end
      ends[place] = life.last
      local storage = storages[place]
      if storage ~= old then
         if storage:size() < old:size() then
            storage:resize(old:size())
         end
         for tensor in pairs(life.tensors) do
            tensor:set(storage, tensor:storageOffset(), tensor:size(), tensor:stride())
         end
      end
   end
end

-- Let modules work where their input is. It must not be read afterwards by others, which the caller knows.
local function inplace(net)
   net:apply(function(module)
      if module.inplace ~= nil and torch.type(module) ~= 'nn.Threshold' then
         module.inplace = true
      end
   end)
end

-- optimizeMemory(net, input, {mode=, inplace=}): `input` is like those that come later.
function optnet.optimizeMemory(net, input, opts)
   opts = opts or {}
   local mode = opts.mode or 'inference'
   if mode ~= 'inference' and mode ~= 'training' then
      error("optnet.optimizeMemory: mode is 'inference' or 'training', got " .. tostring(mode), 2)
   end
   if opts.inplace then
      inplace(net)
   end
   local output = net:forward(input)
   if mode == 'inference' then
      share(lifetimes.find(net, 'updateOutput', 'output', function()
         return {net:updateOutput(input), input}
      end))
      for _, module in ipairs(net:listModules()) do
         module.updateGradInput, module.backward = blocked, blocked
      end
      return
   end
   local gradOutput = nn.utils.recursiveCopy(nil, output)
   local _, gradients = net:parameters()
   local before = {}
   for i, gradient in ipairs(gradients or {}) do
      before[i] = gradient:clone()
   end
   share(lifetimes.find(net, 'backward', 'gradInput', function()
      return {net:backward(input, gradOutput), input, gradOutput}
   end))
   for i, gradient in ipairs(gradients or {}) do
      gradient:copy(before[i])
   end
end

-- Tensors of their own again, and the backward pass.
function optnet.removeOptimization(net)
   for _, module in ipairs(net:listModules()) do
      for _, name in ipairs{'updateGradInput', 'backward'} do
         if rawget(module, name) == blocked then
            module[name] = nil
         end
      end
      for _, name in ipairs{'output', 'gradInput'} do
         lifetimes.each(module[name], function(tensor)
            tensor:set()
         end)
      end
   end
end

-- Bytes in tensors of a network: parameters, their gradients, outputs, gradInputs, buffers, and `total_size`. Memory
-- that is shared counts once, for the first of these that has it. With an input, that is passed forward first.
function optnet.countUsedMemory(net, input)
   if input then
      net:forward(input)
   end
   local seen, bytes = {}, {params = 0, gradParams = 0, outputs = 0, gradInputs = 0, buffers = 0}
   local function count(value, kind)
      lifetimes.each(value, function(tensor)
         local storage = tensor:storage()
         local key = torch.pointer(storage)
         if not seen[key] then
            seen[key] = true
            bytes[kind] = bytes[kind] + storage:size() * tensor:elementSize()
         end
      end)
   end
   local parameters, gradients = net:parameters()
   count(parameters or {}, 'params')
   count(gradients or {}, 'gradParams')
   local modules = net:listModules()
   for _, kind in ipairs{{'output', 'outputs'}, {'gradInput', 'gradInputs'}} do
      for _, module in ipairs(modules) do
         count(module[kind[1]], kind[2])
      end
   end
   for _, module in ipairs(modules) do
      for _, value in pairs(module) do
         if torch.isTensor(value) then
            count(value, 'buffers')
         end
      end
   end
   local total = 0
   for _, size in pairs(bytes) do
      total = total + size
   end
   bytes.total_size = total
   return bytes
end

return optnet
