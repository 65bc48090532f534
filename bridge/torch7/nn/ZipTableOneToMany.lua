-- The first entry paired with each of the second, a list: {a, {b1, b2}} becomes {{a, b1}, {a, b2}}.
local ZipTableOneToMany, parent = torch.class('nn.ZipTableOneToMany', 'nn.Module')

function ZipTableOneToMany:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
   self.gradInputEl = torch.Tensor() -- the sum of the first entries' gradients
end

function ZipTableOneToMany:updateOutput(input)
   if #input ~= 2 then
      error('input must be table of element and table')
   end
   self.output = {}
   for i, other in ipairs(input[2]) do
      self.output[i] = {input[1], other}
   end
   return self.output
end

function ZipTableOneToMany:updateGradInput(input, gradOutput)
   if #input ~= 2 then
      error('input must be table of element and table')
   end
   self.gradInputEl:resizeAs(input[1]):zero()
   local others = {}
   for i = 1, #input[2] do
      self.gradInputEl:add(gradOutput[i][1])
      others[i] = gradOutput[i][2]
   end
   self.gradInput = {self.gradInputEl, others}
   return self.gradInput
end

function ZipTableOneToMany:clearState()
   self.gradInputEl:set()
   return parent.clearState(self)
end
