-- A table of lists as a list of tables: {{a1, a2}, {b1, b2}} becomes {{a1, b1}, {a2, b2}}.
local ZipTable, parent = torch.class('nn.ZipTable', 'nn.Module')

function ZipTable:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
end

local function zip(lists)
   local zipped = {}
   for i, list in ipairs(lists) do
      for j, value in ipairs(list) do
         zipped[j] = zipped[j] or {}
         zipped[j][i] = value
      end
   end
   return zipped
end

function ZipTable:updateOutput(input)
   self.output = zip(input)
   return self.output
end

function ZipTable:updateGradInput(_, gradOutput)
   self.gradInput = zip(gradOutput)
   return self.gradInput
end
