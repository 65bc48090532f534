-- Trains model.lua's network together with other workers: the only part that knows of the parameter server.
-- The model's flat parameter vector is the buffer itself, so a pull writes straight into the network.

local luaps = require 'luaps'

local kv, keys

function connect(address)
   kv = luaps.worker{address = address}
   keys = torch.LongTensor():range(1, kv:num_keys())
end

function pull()
   kv:pull(keys, parameters)
end

-- One step of gradient descent: the server adds what is pushed.
function push(learningRate)
   kv:push(keys, gradParameters:mul(-learningRate))
end

function disconnect()
   kv:finalize()
end
