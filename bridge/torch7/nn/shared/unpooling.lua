-- What the inverses of max poolings have in common: each number goes to where the pooling found its maximum, in an
-- output of the size of the pooling's input.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'
local pooling = require 'nn.shared.pooling'

-- Give a class its methods. `fields`: what the pooling calls the sizes of its input (behind an i), and this module
-- those of its output (o).
return function(class, parent, letters, wanted, fields)
   local n = #letters
   local unpool
   if n == 2 then
      unpool = aten.op('max_unpool2d.out', 'TTIT')
   else
      local volumes = aten.op('max_unpool3d.out', 'TTIIIT')
      unpool = function(input, indices, size, output, stride, padding)
         volumes(input, indices, size, stride, padding, output)
      end
   end

   function class:__init(poolingModule)
      parent.__init(self)
      if torch.type(poolingModule) ~= wanted then
         error('Argument must be a ' .. wanted .. ' module')
      end
      for i = 1, n do
         local axis = letters:sub(i, i)
         if poolingModule['k' .. axis] ~= poolingModule['d' .. axis] then
            error("The size of pooling module's kernel must be equal to its stride")
         end
      end
      self.pooling = poolingModule
   end

   local function follow(self, input)
      self.indices = pooling.indices(self.pooling)
      local sizes = {}
      for i, field in ipairs(fields) do
         local size = self.pooling['i' .. field]
         if not size then
            error('the pooling module must have seen an input first', 0)
         end
         self['o' .. field], sizes[i] = size, size
      end
      if not shape.same(input, self.indices) then
         error(string.format('Expected input of the shape of the indices, %s, but got %s', shape.text(self.indices),
            shape.text(input)), 0)
      end
      return sizes
   end

   function class:updateOutput(input)
      local size = follow(self, input)
      local batch = shape.batched(input, n + 1)
      local sizes = {input:size(batch and 2 or 1), unpack(size)}
      if batch then
         table.insert(sizes, 1, input:size(1))
      end
      shape.resize(self.output, sizes)
      unpool(input, pooling.fromzero(self.indices, self.output, n), size, self.output,
         shape.values(self.pooling, shape.fields('d', letters)),
         shape.values(self.pooling, shape.fields('pad', letters)))
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      follow(self, input)
      pooling.check(self.output, gradOutput)
      local planes = 1
      for d = 1, input:dim() - n do
         planes = planes * input:size(d)
      end
      self.gradInput:resizeAs(input):view(planes, input:nElement() / planes):gather(
         gradOutput:contiguous():view(planes, gradOutput:nElement() / planes), 2,
         self.indices:contiguous():view(planes, input:nElement() / planes))
      return self.gradInput
   end

   function class:empty()
      return self:clearState()
   end

   function class:__tostring__()
      return torch.type(self) .. ' associated to ' .. tostring(self.pooling)
   end
end
