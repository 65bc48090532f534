-- The elements of a table, the last one first.
local ReverseTable, parent = torch.class('nn.ReverseTable', 'nn.Module')

function ReverseTable:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
end

local function reversed(list)
   local made = {}
   for i = #list, 1, -1 do
      made[#made + 1] = list[i]
   end
   return made
end

function ReverseTable:updateOutput(input)
   self.output = reversed(input)
   return self.output
end

function ReverseTable:updateGradInput(_, gradOutput)
   self.gradInput = reversed(gradOutput)
   return self.gradInput
end
