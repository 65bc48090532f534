-- How surprising a text is, letter by letter: a network that guesses each letter from the four before it.
-- surprise() is what Spark calls; it takes a table of strings and returns the bits per letter of each.

require 'torch'
require 'nn'
require 'paths'

torch.setdefaulttensortype('torch.FloatTensor')

local M = {}
local BEFORE, LETTERS, SPACE = 4, 27, 27

-- The parameters lie beside this file once they have been trained; they travel with it.
local parameters = debug.getinfo(1, 'S').source:match('^@(.*)/') .. '/characters.t7'
local net

if paths.filep(parameters) then
   net = torch.load(parameters)
else
   net = nn.Sequential()
   net:add(nn.LookupTable(LETTERS, 8))
   net:add(nn.View(BEFORE * 8))
   net:add(nn.Linear(BEFORE * 8, 64))
   net:add(nn.Tanh())
   net:add(nn.Linear(64, LETTERS))
   net:add(nn.LogSoftMax())
end

-- Writes the codes of a text's letters into a tensor, behind as many spaces as the first letter needs before it.
local function encode(text, codes)
   codes:resize(#text + BEFORE):fill(SPACE)
   local c = codes:data()
   text = text:lower()
   for i = 1, #text do
      local letter = text:byte(i) - 96
      c[BEFORE + i - 1] = letter >= 1 and letter <= 26 and letter or SPACE
   end
   return codes
end

function M.train(text, steps, rate)
   local codes = encode(text, torch.LongTensor())
   local windows = codes:unfold(1, BEFORE + 1, 1)
   local criterion = nn.ClassNLLCriterion()
   net:training()
   local loss
   for _ = 1, steps do
      local batch = windows:index(1, torch.LongTensor(256):random(1, windows:size(1)))
      local before, letter = batch:narrow(2, 1, BEFORE):contiguous(), batch:select(2, BEFORE + 1)
      net:zeroGradParameters()
      loss = criterion:forward(net:forward(before), letter)
      net:backward(before, criterion:backward(net.output, letter))
      net:updateParameters(rate)
   end
   return loss / math.log(2)
end

function M.save(file)
   torch.save(file, net:clearState())
end

function M.surprise(texts)
   net:evaluate()
   local bits, codes = torch.FloatTensor(#texts):zero(), torch.LongTensor()
   for i, text in ipairs(texts) do
      if #text > 0 then
         local windows = encode(text, codes):unfold(1, BEFORE + 1, 1)
         local guesses = net:forward(windows:narrow(2, 1, BEFORE):contiguous())
         local right = guesses:gather(2, windows:narrow(2, BEFORE + 1, 1):contiguous())
         bits[i] = -right:mean() / math.log(2)
      end
   end
   return bits
end

return M
