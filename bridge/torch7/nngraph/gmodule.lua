-- nn.gModule: a module that is a graph of modules, from its input nodes to its output nodes.
--
-- Two graphs over the same data: `bg`, of the nodes that the program made, whose edges lead from outputs to inputs, and
-- `fg`, its reverse. `innode` and `outnode` gather the inputs and outputs. Outputs travel along `fg` in the order of
-- `forwardnodes`, gradients along `bg` in that of `backwardnodes`.
local call = require 'nngraph.call'
local gradients = require 'nngraph.gradients'
local run = require 'nngraph.run'

local gModule, parent = torch.class('nn.gModule', 'nn.Container')

local function checknodes(nodes, name)
   if type(nodes) ~= 'table' or torch.typename(nodes) then
      error(string.format('%s of an nn.gModule must be a table of nodes, got %s', name, torch.type(nodes)), 4)
   end
   for i = 1, math.max(table.maxn(nodes), 1) do
      if not torch.isTypeOf(nodes[i], 'nngraph.Node') then
         error(call.wrong(nodes[i], name, i), 4)
      end
   end
end

-- A node that all inputs come out of.
local function gather(inputs)
   local innode = nngraph.Node{input = {}}
   local sources = #inputs == 1 and {innode} or {innode:split(#inputs)}
   for i, node in ipairs(inputs) do
      if #node.children > 0 then
         error(string.format('an input should have no inputs: inputs[%d], declared at %s, has %d', i,
            tostring(node.data.annotations._debugLabel), #node.children), 4)
      end
      node:add(sources[i], true)
   end
   return innode
end

-- The root of the forward graph that is the inputs' node. Others must be parameters.
local function findinput(fg, data)
   local found
   for _, root in ipairs(fg:roots()) do
      if root.data == data then
         found = root
      elseif torch.type(root.data.module) ~= 'nnop.Parameters' then
         local what = root.data.module and 'found : ' .. torch.type(root.data.module) or 'module not found in node'
         error(string.format('Expected nnop.Parameters node, %s: the node %s, declared at %s, has no inputs and is '
            .. 'not among the inputs of the nn.gModule', what, root.data.annotations.name or root.id,
            tostring(root.data.annotations._debugLabel)), 4)
      end
   end
   return found or error('expecting the forward innode: the outputs of the nn.gModule do not depend on its inputs', 4)
end

-- Every node that takes the result of node i must come after it in `nodes`. One that does not is no part of the
-- gModule, so that this result would be lost.
local function checkused(nodes, i)
   for successor in pairs(nodes[i].data.reverseMap or {}) do
      local found = false
      for j = i + 1, #nodes do
         found = found or nodes[j].data == successor.data
      end
      if not found then
         error(string.format('node declared on %s does not connect to gmodule output',
            tostring(successor.data.annotations._debugLabel)), 4)
      end
   end
end

-- inputs, outputs: tables of nodes.
function gModule:__init(inputs, outputs)
   parent.__init(self)
   checknodes(inputs, 'inputs')
   checknodes(outputs, 'outputs')
   local outnode = nngraph.Node{input = {}}
   for _, node in ipairs(outputs) do
      outnode:add(node, true)
   end
   local innode = gather(inputs)
   self.bg = outnode:graph()
   self.fg = self.bg:reverse()
   self.innode = findinput(self.fg, innode.data)
   self.outnode = outnode
   self.verbose = false
   self.nInputs = #inputs
   self.forwardnodes = self.fg:topsort()
   self.backwardnodes = self.bg:topsort()
   for i, node in ipairs(self.forwardnodes) do
      local data = node.data
      if data.nSplitOutputs and data.nSplitOutputs ~= #node.children then
         error(string.format('%d of split(%d) outputs from the node declared at %s are unused',
            data.nSplitOutputs - #node.children, data.nSplitOutputs, tostring(data.annotations._debugLabel)), 3)
      end
      checkused(self.forwardnodes, i)
      data.forwardNodeId = node.id
      if data.module then
         self:add(data.module)
      end
   end
   self.output = nil
   self.gradInput = nil
   if #outnode.children > 1 then
      self.output = outnode.data.input
   end
end

-- ---- forward

local function empty(list, n)
   for i = list and math.max(#list, n) or 0, 1, -1 do
      list[i] = nil
   end
end

-- What a module gets: one input as it is, several as a table.
local function inputof(data)
   local input = data.input
   if input == nil then
      return {}
   elseif #input == 1 then
      return input[1]
   end
   return input
end

local function element(data)
   local input = data.input
   if #input ~= 1 or type(input[1]) ~= 'table' then
      error('the input for a split should be a table, got ' .. torch.type(input[1]), 0)
   end
   return input[1][data.selectindex]
end

local function forward(node, func)
   local data = node.data
   local output
   if data.selectindex then
      output = element(data)
   elseif data.module then
      output = func(data.module, inputof(data))
   else
      output = inputof(data)
   end
   if data.nSplitOutputs and data.nSplitOutputs ~= #output then
      error(string.format('split(%s) cannot split %s outputs', data.nSplitOutputs, tostring(#output)), 0)
   end
   local children = node.children
   for i = 1, #children do
      local to = children[i].data
      local input = to.input
      if not input then
         input = {}
         to.input = input
      end
      local index = to.mapindex[data]
      if input[index] ~= nil then
         error('each input should have one source', 0)
      end
      input[index] = output
   end
end

local methods = setmetatable({}, {__index = function(functions, name)
   functions[name] = function(module, input)
      return module[name](module, input)
   end
   return functions[name]
end})

-- Call `func(module, input)`, or the modules' method of that name, in the order of the graph.
function gModule:runForwardFunction(func, input)
   if type(func) == 'string' then
      func = methods[func]
   end
   local n = self.nInputs or 1 -- old files have no number: what is split is one input
   if n <= 1 then
      input = {input}
   elseif type(input) ~= 'table' then
      error(string.format('expecting table of %s inputs', n), 2)
   end
   if #input ~= n then
      error(string.format('Got %s inputs instead of %s', #input, n), 2)
   end
   local nodes = self.forwardnodes
   for i = 1, #nodes do
      local data = nodes[i].data
      empty(data.input, #data.mapindex)
   end
   local start = self.innode.data
   start.input = start.input or {}
   for i = 1, n do
      start.input[i] = input[i]
   end
   run.nodes(self, nodes, forward, func)
   self.output = self.outnode.data.input
   if #self.outnode.children == 1 then
      self.output = self.output[1]
   end
   return self.output
end

function gModule:updateOutput(input)
   return self:runForwardFunction('updateOutput', input)
end

-- ---- backward

local function pass(node, gradInput)
   local children, mapindex = node.children, node.data.mapindex
   for i = 1, #children do
      local to = children[i].data
      local list = to.gradOutput
      if not list then
         list = {}
         to.gradOutput = list
      end
      local gradient = gradInput
      if #children > 1 then
         gradient = gradInput[mapindex[to]]
      end
      list[#list + 1] = gradient
   end
end

-- The gradient of an element goes into a table for the node that was split.
local function passelement(node, gradient)
   local to, index = node.children[1].data, node.data.selectindex
   local list = to.gradOutput or {}
   to.gradOutput = list
   list[1] = list[1] or {}
   if #list > 1 or list[1][index] ~= nil then
      error('the splitted node should be used only once', 0)
   end
   list[1][index] = gradient
end

local function backward(node)
   local data = node.data
   local gradient = gradients.sum(data)
   if data.selectindex then
      passelement(node, gradient)
   elseif data.module then
      pass(node, data.module:updateGradInput(inputof(data), gradient))
   else
      pass(node, gradient)
   end
end

local function checkgradients(self, gradOutput)
   local n = #self.outnode.children
   if n > 1 and (type(gradOutput) ~= 'table' or #gradOutput ~= n) then
      error(string.format('Got %s gradOutputs instead of %s',
         type(gradOutput) == 'table' and #gradOutput or torch.type(gradOutput), n), 3)
   end
end

function gModule:updateGradInput(_, gradOutput)
   checkgradients(self, gradOutput)
   local nodes = self.backwardnodes
   for i = 1, #nodes do
      empty(nodes[i].data.gradOutput, 0)
   end
   local start = self.outnode.data
   start.gradOutput = start.gradOutput or {}
   start.gradOutput[1] = gradOutput
   run.nodes(self, nodes, backward)
   local found = self.innode.data.gradOutput
   if #found ~= 1 then
      error('expecting the innode to be used only once', 2)
   end
   self.gradInput = found[1]
   return self.gradInput
end

local function accumulate(node, method, scale)
   local data = node.data
   if data.module then
      data.module[method](data.module, inputof(data), gradients.summed(data), scale)
   end
end

function gModule:accGradParameters(_, gradOutput, scale)
   checkgradients(self, gradOutput)
   run.nodes(self, self.backwardnodes, accumulate, 'accGradParameters', scale or 1)
end

function gModule:accUpdateGradParameters(_, gradOutput, lr)
   checkgradients(self, gradOutput)
   run.nodes(self, self.backwardnodes, accumulate, 'accUpdateGradParameters', lr)
end

require 'nngraph.whole'
