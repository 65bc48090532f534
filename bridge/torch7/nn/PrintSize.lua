-- The input itself; its size is printed, and that of the gradient.
local PrintSize, parent = torch.class('nn.PrintSize', 'nn.Module')

function PrintSize:__init(prefix)
   parent.__init(self)
   self.prefix = prefix or 'PrintSize'
end

local function size(value)
   if torch.type(value) == 'table' then
      return value
   elseif value == nil then
      return 'missing size'
   end
   return value:size()
end

function PrintSize:updateOutput(input)
   self.output = input
   print(self.prefix .. ':input\n', size(input))
   return self.output
end

function PrintSize:updateGradInput(_, gradOutput)
   print(self.prefix .. ':gradOutput\n', size(gradOutput))
   self.gradInput = gradOutput
   return self.gradInput
end
