-- A recurrent network that guesses the next letter of a text, as programs of Torch7 had it; characters.py has its twin.
require 'torch'
require 'nn'
require 'rnn'

torch.setdefaulttensortype('torch.FloatTensor')

local M = {}
local criterion = nn.SequencerCriterion(nn.ClassNLLCriterion())
local kv, model

function M.build(letters, width)
   M.net = nn.Sequencer(nn.Sequential()
      :add(nn.LookupTable(letters, width))
      :add(nn.FastLSTM(width, width))
      :add(nn.Linear(width, letters))
      :add(nn.LogSoftMax()))
   return M.net
end

-- At the server from now on, where others train the same parameters.
function M.share(address, optimizer)
   local luaps = require 'luaps'
   kv = luaps.worker{address = address}
   model = luaps.distributed(M.net, kv, {optimizer = optimizer})
end

-- The letters at these places in the text, each of all texts of a batch, which are the columns of `letters`.
local function at(letters, first, last)
   local places = {}
   for place = first, last do
      table.insert(places, letters[place])
   end
   return places
end

function M.step(letters)
   local count = letters:size(1)
   local inputs, targets = at(letters, 1, count - 1), at(letters, 2, count)
   return model:step(function()
      local loss = criterion:forward(M.net:forward(inputs), targets)
      M.net:backward(inputs, criterion:backward(M.net.output, targets))
      return loss
   end)
end

function M.meet()
   kv:waitall()
   kv:barrier()
end

-- The logarithms of the next letter's probabilities, for each place, with what all have learnt.
function M.predict(letters)
   model:pull()
   return M.net:forward(at(letters, 1, letters:size(1)))
end

function M.close()
   kv:finalize()
end

return M
