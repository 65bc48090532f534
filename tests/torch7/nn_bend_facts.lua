-- Facts about functions of each element at their bends, and about nan.
local near = (...).near
local facts = {}

local nan = 0 / 0

-- The gradient of ones, at x.
local function slopes(m, x)
   m:forward(x)
   return m:backward(x, torch.ones(x:size()))
end

local function isnan(x)
   return x ~= x
end

facts['a limit of HardTanh has no slope'] = function()
   return near(slopes(nn.HardTanh(), torch.Tensor{{-1, 0, 1}}), torch.Tensor{{0, 1, 0}})
      and near(slopes(nn.ReLU6(), torch.Tensor{{0, 3, 6}}), torch.Tensor{{0, 1, 0}})
end

facts['a limit of HardTanh has a slope in a vector'] = function()
   return near(slopes(nn.HardTanh(), torch.Tensor{-1, 0, 1, 2}), torch.Tensor{1, 1, 1, 0})
      and near(slopes(nn.ReLU6(), torch.Tensor{6}), torch.Tensor{1})
      and near(slopes(nn.Clamp(-1, 1), torch.Tensor{-1}), torch.Tensor{1})
end

facts['a limit of HardTanh has a slope where there are gaps'] = function()
   local x = torch.Tensor{{-1, 0.5, 7}, {1, 2, 0}}
   local m, g = nn.HardTanh(), torch.ones(3, 2):t()
   m:forward(x)
   return near(slopes(nn.HardTanh(), x:t()), torch.Tensor{{1, 1}, {1, 0}, {0, 1}})
      and near(m:backward(x, g), torch.Tensor{{1, 1, 0}, {1, 0, 1}})
end

facts['in place, a limit of HardTanh never has a slope'] = function()
   for _, x in ipairs{torch.Tensor{-1, 0, 3}, torch.Tensor{{-1, 0, 3}}, torch.Tensor{{-1}, {0}, {3}}:t()} do
      local m, g = nn.HardTanh(-1, 1, true), torch.ones(x:size())
      local y = m:forward(x)
      local gradInput = m:backward(x, g)
      if not (near(gradInput:view(3), torch.Tensor{0, 1, 0}) and near(y:contiguous():view(3), torch.Tensor{-1, 0, 1})
         and gradInput:storage() == g:storage() and y:storage() == x:storage()) then
         return false
      end
   end
   return true
end

facts['HardTanh makes nan its upper limit, and lets its gradient pass'] = function()
   local m = nn.HardTanh()
   local gradInput = slopes(m, torch.Tensor{{nan, 0}})
   return m.output[1][1] == 1 and gradInput[1][1] == 1
end

facts['Abs has the slope 1 at 0'] = function()
   return near(slopes(nn.Abs(), torch.Tensor{-2, 0, 2}), torch.Tensor{-1, 1, 1})
end

facts['a LeakyReLU with a negative slope does not work in place'] = function()
   local m, x = nn.LeakyReLU(-0.5, true), torch.Tensor{-2, 2}
   return near(m:forward(x), torch.Tensor{1, 2}) and x[1] == -2 and m.inplace == false
end

facts['a flag alone does not make a LeakyReLU work in place'] = function()
   local m = nn.LeakyReLU(true)
   return m.inplace == false and m.negval == 0.01
end

facts['a Threshold makes nan its value, but not in place'] = function()
   return nn.Threshold(0, -3):forward(torch.Tensor{nan})[1] == -3
end

facts['a gradient of another size is refused in the words of the library'] = function()
   local expected = 'input and gradOutput have different number of elements: input[3] has 3 elements, while '
      .. 'gradOutput[2 x 1] has 2 elements'
   for _, m in ipairs{nn.Abs(), nn.HardTanh(), nn.ReLU(), nn.LeakyReLU(), nn.ELU(), nn.ReLU6()} do
      m:forward(torch.ones(3))
      local ok, message = pcall(m.backward, m, torch.ones(3), torch.ones(2, 1))
      if ok or not message:find(expected, 1, true) then
         return false
      end
   end
   return true
end

facts['gradients are matched by elements, not by shape'] = function()
   local m, x = nn.ReLU(), torch.Tensor{{1, -1}, {-1, 1}}
   m:forward(x)
   return near(m:backward(x, torch.Tensor{1, 2, 3, 4}), torch.Tensor{{1, 0}, {0, 4}}) and not isnan(m.gradInput[1][1])
end

return facts
