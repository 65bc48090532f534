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

-- `letters` has a row for each place in the text, and a column for each text of the batch.
function M.step(letters)
   local inputs, targets = {}, {}
   for place = 1, letters:size(1) - 1 do
      inputs[place], targets[place] = letters[place], letters[place + 1]
   end
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
   local inputs = {}
   for place = 1, letters:size(1) do
      inputs[place] = letters[place]
   end
   return M.net:forward(inputs)
end

function M.close()
   kv:finalize()
end

return M
