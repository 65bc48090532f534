-- Images with a border that mirrors them.
local padding = require 'nn.shared.spatialpadding'
local shape = require 'nn.shared.shape'

local SpatialReflectionPadding, parent = torch.class('nn.SpatialReflectionPadding', 'nn.Module')

padding(SpatialReflectionPadding, parent, 'reflection_pad2d', {'pad_l', 'pad_r', 'pad_t', 'pad_b'},
   {'l', 'r', 't', 'b'})

-- torch mirrors an image once. The original took a border as wide as the image or wider too and read past its rows
-- (programs that measure a network with a tiny image rely on it); here such a border goes back and forth.
local once, onceback = SpatialReflectionPadding.updateOutput, SpatialReflectionPadding.updateGradInput

local function sides(self, input)
   local d = input:dim() - 1
   return {d, self.pad_t, self.pad_b}, {d + 1, self.pad_l, self.pad_r}
end

local function wide(self, input)
   if input:dim() == 3 or input:dim() == 4 then
      for _, side in ipairs{sides(self, input)} do
         if math.max(side[2], side[3]) >= input:size(side[1]) then
            return true
         end
      end
   end
   return false
end

-- Where each row or column of the output comes from.
local function sources(size, before, after)
   if size + before + after < 1 then
      error(string.format('input is too small: nothing is left of %d with a border of %d, %d', size, before, after), 0)
   end
   local period, index = 2 * math.max(size - 1, 1), torch.LongTensor(size + before + after)
   for i = 1, index:size(1) do
      local place = (i - 1 - before) % period
      index[i] = size == 1 and 1 or math.min(place, period - place) + 1
   end
   return index
end

local function across(self, input)
   local rows, columns = sides(self, input)
   return rows[1], sources(input:size(rows[1]), rows[2], rows[3]), columns[1],
      sources(input:size(columns[1]), columns[2], columns[3])
end

function SpatialReflectionPadding:updateOutput(input)
   if not wide(self, input) then
      return once(self, input)
   end
   local d, rows, e, columns = across(self, input)
   self.output:index(input:index(d, rows), e, columns)
   return self.output
end

function SpatialReflectionPadding:updateGradInput(input, gradOutput)
   if not wide(self, input) then
      return onceback(self, input, gradOutput)
   end
   local d, rows, e, columns = across(self, input)
   shape.expect('gradOutput', gradOutput, d, rows:size(1))
   shape.expect('gradOutput', gradOutput, e, columns:size(1))
   local partial = input:index(d, rows):zero()
   partial:indexAdd(e, columns, gradOutput)
   self.gradInput:resizeAs(input):zero()
   self.gradInput:indexAdd(d, rows, partial)
   return self.gradInput
end
