-- What a test can assert: the methods of torch.Tester that count a success or a failure.
local equality = require 'torch.equality'

-- The message that may follow the values of an assertion.
local function said(message, ...)
   assert(next{...} == nil, 'Unexpected arguments passed to test function')
   if not message or message == '' then
      return ''
   end
   assert(type(message) == 'string', 'message parameter must be a string')
   return message .. '\n'
end

-- A tolerance and a message, in either order, either left out. The levels of the errors are the values, as in the
-- original: a string that came too much is an error of `error` itself.
local function within(default, ...)
   local tolerance, message
   for _, value in ipairs{...} do
      if type(value) == 'string' then
         if message then
            error('Unexpected string argument; already have message', value)
         end
         message = value .. '\n'
      elseif type(value) == 'number' then
         if tolerance then
            error('Unexpected number argument; already have tolerance', value)
         end
         assert(value >= 0, 'tolerance cannot be negative')
         tolerance = value
      else
         error('Unrecognized argument; should be a tolerance or message', value)
      end
   end
   return tolerance or default, message or ''
end

return function(torch, Tester)
   function Tester:assert(condition, ...)
      local message = said(...)
      if type(condition) ~= 'boolean' then
         self:_warning(' :assert should only be used for boolean conditions. To check for non-nil variables, ' ..
            'do this explicitly: Tester:assert(var ~= nil).')
      end
      return self:_assert_sub(condition, string.format('%sBOOL violation condition=%s', message, tostring(condition)))
   end

   local orders = {
      lt = {function(a, b) return a < b end, 'LT failed: %s >= %s'},
      gt = {function(a, b) return a > b end, 'GT failed: %s <= %s'},
      le = {function(a, b) return a <= b end, 'LE failed: %s > %s'},
      ge = {function(a, b) return a >= b end, 'GE failed: %s < %s'},
      eq = {function(a, b) return a == b end, 'EQ failed: %s ~= %s'},
   }
   for name, order in pairs(orders) do
      local holds, text = unpack(order)
      Tester['assert' .. name] = function(self, a, b, ...)
         local message = said(...)
         return self:_assert_sub(holds(a, b), message .. string.format(text, tostring(a), tostring(b)))
      end
   end

   function Tester:assertne(a, b, ...)
      local message = said(...)
      if type(a) == type(b) and type(a) == 'table' or type(a) == 'userdata' then
         self:_warning(' :assertne should only be used to compare basic lua objects (numbers, booleans, etc). ' ..
            'Consider using either :assertGeneralNe or :assert(a ~= b).')
      end
      return self:_assert_sub(a ~= b, string.format('%sNE failed: %s == %s', message, tostring(a), tostring(b)))
   end

   function Tester:assertalmosteq(a, b, ...)
      local tolerance, message = within(1e-16, ...)
      return self:_assert_sub(math.abs(a - b) <= tolerance, string.format(
         '%sALMOST_EQ failed: %s ~= %s with tolerance=%s', message, tostring(a), tostring(b), tostring(tolerance)))
   end

   function Tester:_eqOrNeq(got, expected, negate, ...)
      local tolerance, message = within(0, ...)
      local success, what = equality.general(got, expected, tolerance, negate)
      return self:_assert_sub(success, message .. (what or ''))
   end

   function Tester:assertGeneralEq(got, expected, ...)
      return self:_eqOrNeq(got, expected, false, ...)
   end

   function Tester:eq(got, expected, ...)
      return self:assertGeneralEq(got, expected, ...)
   end

   function Tester:assertGeneralNe(got, unexpected, ...)
      return self:_eqOrNeq(got, unexpected, true, ...)
   end

   function Tester:ne(got, unexpected, ...)
      return self:assertGeneralNe(got, unexpected, ...)
   end

   function Tester:_assertTensorEqOrNeq(a, b, negate, ...)
      assert(torch.isTensor(a), 'First argument should be a Tensor')
      assert(torch.isTensor(b), 'Second argument should be a Tensor')
      local tolerance, message = within(0, ...)
      local ignoredims = self._assertTensorEqIgnoresDims
      local success, what = equality.tensors(a, b, tolerance, negate, ignoredims)
      if ignoredims and not negate and success and not a:isSameSizeAs(b) then
         self:_warning('Tensors have the same content but different dimensions. For backwards compatibility, they ' ..
            'are considered equal, but this may change in the future. Consider using :eq to check for equality ' ..
            'instead.')
      end
      return self:_assert_sub(success, message .. (what or ''))
   end

   function Tester:assertTensorEq(a, b, ...)
      return self:_assertTensorEqOrNeq(a, b, false, ...)
   end

   function Tester:assertTensorNe(a, b, ...)
      return self:_assertTensorEqOrNeq(a, b, true, ...)
   end

   function Tester:_assertTableEqOrNeq(a, b, negate, ...)
      assert(type(a) == 'table', 'First argument should be a Table')
      assert(type(b) == 'table', 'Second argument should be a Table')
      return self:_eqOrNeq(a, b, negate, ...)
   end

   function Tester:assertTableEq(a, b, ...)
      return self:_assertTableEqOrNeq(a, b, false, ...)
   end

   function Tester:assertTableNe(a, b, ...)
      return self:_assertTableEqOrNeq(a, b, true, ...)
   end

   -- `f` raises an error for which `accepts` is true.
   function Tester:assertErrorObj(f, accepts, ...)
      local message = said(...)
      local ok, raised = pcall(f)
      return self:_assert_sub(not ok and accepts(raised), string.format('%sERROR violation: err=%s', message,
         tostring(raised)))
   end

   function Tester:assertError(f, ...)
      return self:assertErrorObj(f, function() return true end, ...)
   end

   function Tester:assertErrorMsg(f, text, ...)
      return self:assertErrorObj(f, function(raised) return raised == text end, ...)
   end

   function Tester:assertErrorPattern(f, pattern, ...)
      return self:assertErrorObj(f, function(raised) return string.find(raised, pattern) ~= nil end, ...)
   end

   function Tester:assertNoError(f, ...)
      local message = said(...)
      local ok, raised = pcall(f)
      return self:_assert_sub(ok, string.format('%sERROR violation: err=%s', message, tostring(raised)))
   end
end
