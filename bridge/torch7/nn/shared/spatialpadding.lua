-- What paddings share that take their border from the image: sizes, and torch's kernels.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'

-- Give a class its methods. `fields` and `labels` are in the order of the constructor's arguments: the sides of the
-- last axis first. `name` is that of torch's kernel.
return function(class, parent, name, fields, labels)
   local n = #fields / 2
   local forward = aten.op(name .. '.out', 'TIT')
   local backward = aten.op(name .. '_backward.grad_input', 'TTIT')

   function class:__init(...)
      parent.__init(self)
      local arguments = {...}
      for i, field in ipairs(fields) do
         self[field] = arguments[i] or arguments[1] or 0
      end
   end

   local function sizes(self, input)
      local batch, pads = shape.batched(input, n + 1), shape.values(self, fields)
      local first = batch and 2 or 1
      local from, to = {input:size(first)}, {input:size(first)}
      for i = 1, n do
         local side = 2 * (n - i) + 1
         from[i + 1] = input:size(first + i)
         to[i + 1] = from[i + 1] + pads[side] + pads[side + 1]
      end
      for i = 2, n + 1 do
         if to[i] < 1 then
            error(string.format('input %s is too small. Calculated output size: %s', shape.text(input),
               table.concat(to, ' x ')), 0)
         end
      end
      if batch then
         table.insert(to, 1, input:size(1))
      end
      return to
   end

   function class:updateOutput(input)
      shape.resize(self.output, sizes(self, input))
      forward(input, shape.values(self, fields), self.output)
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      for d, size in ipairs(sizes(self, input)) do
         shape.expect('gradOutput', gradOutput, d, size)
      end
      self.gradInput:resizeAs(input)
      backward(gradOutput, input, shape.values(self, fields), self.gradInput)
      return self.gradInput
   end

   function class:__tostring__()
      local parts = {}
      for i, label in ipairs(labels) do
         parts[i] = string.format('%s=%d', label, self[fields[i]])
      end
      return string.format('%s(%s)', torch.type(self), table.concat(parts, ', '))
   end
end
