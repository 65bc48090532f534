-- nn.tables: which input plane is connected to which output plane, a row for each connection.
local tables = {}
nn.tables = tables

-- Every input to every output.
function tables.full(nin, nout)
   local connections = torch.Tensor(nin * nout, 2)
   for to = 1, nout do
      for from = 1, nin do
         local row = connections[(to - 1) * nin + from]
         row[1], row[2] = from, to
      end
   end
   return connections
end

-- Each input to the output with its number.
function tables.oneToOne(nfeat)
   local connections = torch.Tensor(nfeat, 2)
   for i = 1, nfeat do
      connections[i]:fill(i)
   end
   return connections
end

-- `nto` inputs, by chance, to each output: inputs are dealt from a permutation, a new one is drawn when what is left
-- of it is not enough for one more.
function tables.random(nin, nout, nto)
   local connections = torch.Tensor(nto * nout, 2)
   local deck = torch.randperm(nin)
   local hands, dealt = math.floor(nin / nto), 0
   for to = 1, nout do
      local rows = connections:narrow(1, (to - 1) * nto + 1, nto)
      rows:select(2, 1):copy(deck:narrow(1, dealt * nto + 1, nto))
      rows:select(2, 2):fill(to)
      dealt = dealt + 1
      if dealt == hands then
         deck = torch.randperm(nin)
         dealt = 0
      end
   end
   return connections
end

return tables
