-- Programs as people wrote them for nngraph: an LSTM unrolled in time over shared clones, and a model of two towers.
require 'nngraph'
torch.setdefaulttensortype('torch.DoubleTensor')

local programs = {}

-- One step of an LSTM: {x, c, h} -> {c, h}
function programs.lstm(inputs, n)
   local x, prev_c, prev_h = nn.Identity()(), nn.Identity()(), nn.Identity()()
   local i2h = nn.Linear(inputs, 4 * n)(x):annotate{name = 'i2h'}
   local h2h = nn.Linear(n, 4 * n)(prev_h):annotate{name = 'h2h'}
   local sums = nn.CAddTable()({i2h, h2h})
   local n1, n2, n3, n4 = nn.SplitTable(2)(nn.Reshape(4, n)(sums)):split(4)
   local in_gate, forget_gate, out_gate = nn.Sigmoid()(n1), nn.Sigmoid()(n2), nn.Sigmoid()(n3)
   local in_transform = nn.Tanh()(n4)
   local next_c = nn.CAddTable()({nn.CMulTable()({forget_gate, prev_c}), nn.CMulTable()({in_gate, in_transform})})
   local next_h = nn.CMulTable()({out_gate, nn.Tanh()(next_c)})
   return nn.gModule({x, prev_c, prev_h}, {next_c, next_h})
end

-- A clone for each step, which shares parameters and gradients but has outputs of its own.
function programs.clone_many_times(net, times)
   local clones = {}
   local params, gradParams = net:parameters()
   local mem = torch.MemoryFile('w'):binary()
   mem:writeObject(net)
   for t = 1, times do
      local reader = torch.MemoryFile(mem:storage(), 'r'):binary()
      local clone = reader:readObject()
      reader:close()
      local cloneParams, cloneGradParams = clone:parameters()
      for i = 1, #params do
         cloneParams[i]:set(params[i])
         cloneGradParams[i]:set(gradParams[i])
      end
      clones[t] = clone
   end
   mem:close()
   return clones
end

-- The same by a module's own way.
function programs.clone_each(net, times)
   local clones = {}
   for t = 1, times do
      clones[t] = net:clone('weight', 'bias', 'gradWeight', 'gradBias')
   end
   return clones
end

-- Forward through all of xs (time x batch x inputs) from zeros, back from gradients gs of the outputs. Gives outputs
-- (time x batch x n), gradients of xs, and of the parameters.
function programs.unroll(net, xs, gs, n, clone)
   local _, gradFlat = net:getParameters()
   gradFlat:zero()
   local times, batch = xs:size(1), xs:size(2)
   local clones = (clone or programs.clone_many_times)(net, times)
   local cs, hs = {[0] = torch.zeros(batch, n)}, {[0] = torch.zeros(batch, n)}
   local outputs, dxs = torch.Tensor(times, batch, n), torch.Tensor():resizeAs(xs)
   for t = 1, times do
      clones[t]:training()
      cs[t], hs[t] = unpack(clones[t]:forward({xs[t], cs[t - 1], hs[t - 1]}))
      outputs[t]:copy(hs[t])
   end
   local dc, dh = torch.zeros(batch, n), torch.zeros(batch, n)
   for t = times, 1, -1 do
      local dx
      dx, dc, dh = unpack(clones[t]:backward({xs[t], cs[t - 1], hs[t - 1]}, {dc, dh + gs[t]}))
      dxs[t]:copy(dx)
   end
   return outputs, dxs, gradFlat
end

-- Images and words in one space, compared: {image, word} -> similarity.
function programs.towers(images, words, size)
   local input = nn.Identity()()
   local image, word = input:split(2)
   local left = image - nn.Linear(images, 2 * size) - nn.ReLU() - nn.Linear(2 * size, size)
   local right = word - nn.LookupTable(words, size) - nn.Sum(2) - nn.Tanh()
   return nn.gModule({input}, {nn.Sigmoid()(nn.DotProduct()({left, right}))})
end

function programs.train(model, inputs, targets, rounds, rate)
   local criterion = nn.BCECriterion()
   local losses = {}
   for i = 1, rounds do
      model:zeroGradParameters()
      losses[i] = criterion:forward(model:forward(inputs), targets)
      model:backward(inputs, criterion:backward(model.output, targets))
      model:updateParameters(rate)
   end
   return losses
end

return programs
