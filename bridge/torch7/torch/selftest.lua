-- torch.test([names]): a quick look at whether this installation computes what it should, reported as torch.Tester
-- reports everything.
local function suite(torch, tester)
   local tests = torch.TestSuite()

   function tests.Construction()
      local t = torch.range(1, 6):resize(2, 3)
      tester:eq(t, torch.Tensor{{1, 2, 3}, {4, 5, 6}}, 'range and resize')
      tester:eq(t:storage():size(), 6, 'storage')
      tester:eq(torch.LongTensor{1, 2}:double(), torch.DoubleTensor{1, 2}, 'conversion')
   end

   function tests.Indexing()
      local t = torch.range(1, 12):resize(3, 4)
      tester:eq(t[2][3], 7, 't[i][j]')
      tester:eq(t[{{2, 3}, 4}], torch.Tensor{8, 12}, 't[{range, j}]')
      tester:eq(t:index(1, torch.LongTensor{3, 1}), torch.Tensor{{9, 10, 11, 12}, {1, 2, 3, 4}}, 'index')
      tester:eq(t[torch.gt(t, 10)], torch.Tensor{11, 12}, 'mask')
   end

   function tests.Views()
      local t = torch.zeros(2, 3)
      t:t():select(1, 2):fill(5)
      tester:eq(t, torch.Tensor{{0, 5, 0}, {0, 5, 0}}, 'a view writes through')
      tester:eq(t:narrow(2, 2, 2):contiguous(), torch.Tensor{{5, 0}, {5, 0}}, 'narrow')
   end

   function tests.Arithmetic()
      local a, b = torch.Tensor{1, 2, 3}, torch.Tensor{4, 5, 6}
      tester:eq(a + b, torch.Tensor{5, 7, 9}, '+')
      tester:eq(a * b, 32, 'dot')
      tester:eq(torch.cmul(a, b), torch.Tensor{4, 10, 18}, 'cmul')
      tester:eq(torch.pow(a, 2):sum(), 14, 'pow and sum')
      tester:eq(torch.exp(torch.log(a)), a, 1e-12, 'exp and log')
   end

   function tests.Matrices()
      local a = torch.Tensor{{1, 2}, {3, 4}}
      tester:eq(a * a, torch.Tensor{{7, 10}, {15, 22}}, 'mm')
      tester:eq(a * torch.Tensor{1, 1}, torch.Tensor{3, 7}, 'mv')
      tester:eq(torch.zeros(2, 2):addmm(a, torch.eye(2)), a, 'addmm')
   end

   function tests.Reductions()
      local t = torch.Tensor{{3, 1, 2}, {9, 8, 7}}
      local largest, where = t:max(2)
      tester:eq(largest, torch.Tensor{{3}, {9}}, 'max')
      tester:eq(where, torch.LongTensor{{1}, {1}}, 'its index')
      tester:eq((t:sort(2)), torch.Tensor{{1, 2, 3}, {7, 8, 9}}, 'sort')
      tester:eq(t:mean(1), torch.Tensor{{6, 4.5, 4.5}}, 'mean')
   end

   function tests.Random()
      local state = torch.getRNGState()
      torch.manualSeed(1234)
      local first = torch.randn(5)
      torch.manualSeed(1234)
      tester:eq(torch.randn(5), first, 'the same seed, the same numbers')
      torch.setRNGState(state)
   end

   function tests.Errors()
      tester:assertError(function() return torch.Tensor(2):add(torch.Tensor(3)) end, 'sizes that do not agree')
      tester:assertError(function() return torch.Tensor(2)[3] end, 'an index out of range')
   end

   function tests.Classes()
      local timer = torch.Timer()
      tester:eq(torch.type(timer), 'torch.Timer', 'type')
      tester:assert(torch.isTypeOf(timer, torch.Timer), 'isTypeOf')
      tester:eq(torch.factory('torch.FloatTensor')():type(), 'torch.FloatTensor', 'factory')
   end

   return tests
end

return function(torch)
   function torch.test(names)
      local tester = torch.Tester()
      return tester:add(suite(torch, tester)):run(names)
   end
end
