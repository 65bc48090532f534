-- torch.Tester: runs tests, counts what they assert, and reports.
local assertions = require 'torch.assertions'
local report = require 'torch.report'

local function namelist(names)
   return type(names) == 'string' and {names} or names
end

return function(torch)
   local Tester = torch.class('torch.Tester')

   function Tester:__init()
      self.errors = {}
      self.tests = {}
      self.warnings = {}
      self._warningCount = {}
      self.disabledTests = {}
      self._currentTestName = ''
      -- assertTensorEq takes {{1}} for {1}, with a warning; eq does not.
      self._assertTensorEqIgnoresDims = true
   end

   -- Stop after the first test that fails.
   function Tester:setEarlyAbort(abort)
      self.earlyAbort = abort
   end

   -- Let failures and errors leave run() as they happen.
   function Tester:setRethrowErrors(rethrow)
      self.rethrow = rethrow
   end

   -- Report the numbers only, not the messages.
   function Tester:setSummaryOnly(only)
      self.summaryOnly = only
   end

   -- ---- counting

   function Tester:_success()
      local name = self._currentTestName
      self.assertionPass[name] = self.assertionPass[name] + 1
      return true
   end

   -- A message with the test's name above and the place in the test below.
   function Tester:_addDebugInfo(message)
      local trace = debug.traceback('tester', 3) or ''
      local place = trace:match('.-\n([^\n]+\n[^\n]+)\n[^\n]+xpcall') or ''
      local name = self._currentTestName
      return (name ~= '' and name .. '\n' or '') .. message .. '\n' .. place
   end

   function Tester:_failure(message)
      if self.rethrow then
         error(message, 2)
      end
      local name = self._currentTestName
      self.assertionFail[name] = self.assertionFail[name] + 1
      self.errors[#self.errors + 1] = self:_addDebugInfo(message)
      return false
   end

   function Tester:_warning(message)
      local name = self._currentTestName
      self._warningCount[name] = (self._warningCount[name] or 0) + 1
      self.warnings[#self.warnings + 1] = self:_addDebugInfo(message)
   end

   function Tester:_assert_sub(condition, message)
      if condition then
         return self:_success()
      end
      return self:_failure(message)
   end

   assertions(torch, Tester)

   -- ---- the tests

   -- Add a test, or a suite of them. `_setUp` and `_tearDown` run before and after each test.
   function Tester:add(f, name)
      if type(f) == 'table' then
         assert(name == nil, 'Name parameter is forbidden for a table of tests, since its use is ambiguous')
         if f.__isTestSuite then
            f = f.__tests
         else
            self:_warning('Should use TestSuite rather than plain lua table')
         end
         for key, test in pairs(f) do
            assert(type(test) ~= 'table', 'Nested sets of tests are not supported')
            self:add(test, key)
         end
         return self
      end
      assert(type(f) == 'function', 'Only tables of functions and functions supported')
      if name == '_setUp' then
         assert(not self._setUp, 'Only one set-up function allowed')
         self._setUp = f
      elseif name == '_tearDown' then
         assert(not self._tearDown, 'Only one tear-down function allowed')
         self._tearDown = f
      else
         name = name or 'unknown'
         if self.tests[name] ~= nil then
            error('Test with name ' .. tostring(name) .. ' already exists!')
         end
         self.tests[name] = f
      end
      return self
   end

   function Tester:disable(names)
      names = namelist(names)
      assert(type(names) == 'table', 'Expecting name or list for disable')
      for _, name in ipairs(names) do
         assert(self.tests[name], "Unrecognized test '" .. tostring(name) .. "'")
         self.disabledTests[name] = true
      end
      return self
   end

   -- The tests whose names match one of the patterns; all of them without patterns.
   function Tester:_getTests(patterns)
      if patterns == nil then
         return self.tests
      end
      patterns = namelist(patterns)
      assert(type(patterns) == 'table', 'Only accept a name or table of test names (or nil for all tests)')
      local chosen = {}
      for _, pattern in ipairs(patterns) do
         local found = false
         for name, test in pairs(self.tests) do
            if tostring(name):match(pattern) then
               chosen[name], found = test, true
            end
         end
         assert(found, "Couldn't find test '" .. pattern .. "'")
      end
      return chosen
   end

   function Tester:_pcall(f)
      local before = #self.errors
      local ok, result = xpcall(f, debug.traceback)
      if not ok then
         self.errors[#self.errors + 1] = self._currentTestName .. '\n Function call failed\n' .. tostring(result) ..
            '\n'
      end
      return ok, result, ok and before == #self.errors
   end

   -- Run one test; PASS, FAIL, ERROR or SKIP.
   local function outcome(self, name, test)
      if self.disabledTests[name] then
         return 'SKIP'
      end
      if self._setUp then
         self._setUp(name)
      end
      local ok, passed = true, true
      if self.rethrow then
         test() -- a failure does not come back
      else
         local _
         ok, _, passed = self:_pcall(test)
      end
      if self._tearDown then
         self._tearDown(name)
      end
      return not ok and 'ERROR' or passed and 'PASS' or 'FAIL'
   end

   function Tester:_run(tests)
      local count, i = 0, 0
      for _ in pairs(tests) do
         count = count + 1
      end
      report.begin(count)
      for name, test in pairs(tests) do
         self._currentTestName = name
         i = i + 1
         local line = report.start(tostring(name), i, count)
         local status = outcome(self, name, test)
         self.testError[name] = status == 'ERROR' and 1 or 0
         report.finish(line, status, status == 'PASS' and self._warningCount[name] > 0)
         if self.earlyAbort and i < count and (status == 'ERROR' or status == 'FAIL') then
            report.aborted()
            break
         end
         collectgarbage()
      end
   end

   function Tester:_report(tests)
      local count = {tests = 0, asserts = 0, failures = 0, errors = 0, warnings = 0, skipped = 0}
      local function add(field, one)
         count[field] = count[field] + (one and 1 or 0)
      end
      for name in pairs(tests) do
         add('tests', true)
         count.asserts = count.asserts + self.assertionPass[name] + self.assertionFail[name]
         add('failures', self.assertionFail[name] > 0)
         add('errors', self.testError[name] > 0)
         add('warnings', self._warningCount[name] > 0)
         add('skipped', self.disabledTests[name])
      end
      count.warnings = count.warnings + (self._warningCount[''] or 0)
      self.countasserts = count.asserts
      report.summary(count)
      if not self.summaryOnly then
         report.sections(self.errors, self.warnings)
      end
   end

   -- Run the tests (those that the patterns name); an error at the end if one failed, so that a script's exit status
   -- tells.
   function Tester:run(patterns)
      local tests = self:_getTests(patterns)
      self.assertionPass, self.assertionFail, self.haveWarning, self.testError = {}, {}, {}, {}
      for name in pairs(tests) do
         self.assertionPass[name], self.assertionFail[name], self.testError[name] = 0, 0, 0
         self._warningCount[name] = 0
      end
      self:_run(tests)
      self:_report(tests)
      for name in pairs(tests) do
         assert(self.assertionFail[name] == 0 and self.testError[name] == 0,
            'An error was found while running tests!')
      end
      return 0
   end
end
