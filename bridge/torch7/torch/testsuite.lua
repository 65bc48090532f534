-- torch.TestSuite(): a table of tests that refuses to lose one: a second test of the same name is an error.
return function(torch)
   function torch.TestSuite()
      local tests = {}
      local metatable = {}

      function metatable:__index(name)
         return tests[name]
      end

      function metatable:__newindex(name, test)
         if tests[name] ~= nil then
            error('Test ' .. tostring(name) .. ' is already defined.', 2)
         elseif type(test) == 'table' then
            error('Nested tables of tests are not supported', 2)
         elseif type(test) ~= 'function' then
            error('Only functions are supported as members of a TestSuite', 2)
         end
         tests[name] = test
      end

      return setmetatable({__tests = tests, __isTestSuite = true}, metatable)
   end
end
