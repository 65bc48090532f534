-- Deep comparison of two values, as torch.Tester's :eq and :ne make it: whether they are as wanted, and in which way
-- they are not.
--
-- With `negate` two values have to differ. Tables are compared level by level, so that what is reported is the
-- difference nearest to the top; a pair of tables is compared once, so that cycles end.
local equality = {}

local function verdict(equal, negate)
   if negate then
      return not equal
   end
   return equal
end

-- Bytes, chars and shorts have no abs.
local function measurable(t)
   return t.abs and t or t:double()
end

-- Tensors of one type with equally many elements.
local function elements(a, b, tolerance, negate, what)
   local most = measurable(a):clone():add(-1, measurable(b)):abs():max()
   local success = verdict(most <= tolerance, negate)
   return success, not success and string.format('%s%s violation: max diff=%s, tolerance=%s', what,
      negate and 'NE(==)' or 'EQ(==)', tostring(most), tostring(tolerance)) or nil
end

function equality.tensors(a, b, tolerance, negate, ignoredims)
   if not ignoredims and a:dim() ~= b:dim() then
      return negate, 'The tensors have different dimensions'
   elseif a:type() ~= b:type() then
      return negate, 'The tensors have different types'
   elseif a:dim() == 0 and b:dim() == 0 then
      return not negate, 'Both tensors are empty'
   end
   local same
   if ignoredims then
      same = a:nElement() == b:nElement()
   else
      same = a:isSameSizeAs(b)
   end
   if not same then
      return negate, 'The tensors have different sizes'
   end
   return elements(a, b, tolerance, negate, 'Tensor')
end

local function storages(a, b, tolerance, negate)
   if a:size() ~= b:size() then
      return negate, 'The storages have different sizes'
   elseif torch.type(a) ~= torch.type(b) then
      return negate, 'The storages have different types'
   end
   local tensor = torch[torch.type(a):match('%.(%a+)Storage$') .. 'Tensor']
   return elements(tensor():set(a), tensor():set(b), tolerance, negate, 'Storage')
end

local function numbers(a, b, tolerance, negate)
   local success = verdict(math.abs(a - b) <= tolerance, negate)
   if success then
      return true
   end
   return false, string.format(negate and 'NE failed: %s == %s' or 'EQ failed: %s ~= %s', tostring(a), tostring(b)) ..
      (tolerance > 0 and ' with tolerance=' .. tostring(tolerance) or '')
end

local function others(a, b, negate)
   local success = verdict(a == b, negate)
   if success then
      return true
   end
   return false, string.format(negate and 'NE failed: %s (%s) == %s (%s)' or 'EQ failed: %s (%s) ~= %s (%s)',
      tostring(a), type(a), tostring(b), type(b))
end

local function missing(path, which, value, other)
   return string.format('Entry %s missing in %s table (is %s in %s)', path, which, tostring(value), other)
end

-- Where two tables differ; nil if they are equal.
local function difference(a, b, tolerance)
   local queue, first, last, seen = {{a, b, ''}}, 1, 1, {}
   while first <= last do
      local x, y, path = unpack(queue[first])
      queue[first] = nil
      first = first + 1
      for key, value in pairs(x) do
         local other, here = y[key], path .. tostring(key)
         if other == nil then
            return missing(here, 'second', value, 'first')
         elseif type(value) == 'table' and type(other) == 'table' then
            seen[value] = seen[value] or {}
            if not seen[value][other] then
               seen[value][other] = true
               last = last + 1
               queue[last] = {value, other, here .. '.'}
            end
         else
            local equal, message = equality.general(value, other, tolerance, false)
            if not equal then
               return 'At table location ' .. here .. ': ' .. message
            end
         end
      end
      for key, value in pairs(y) do
         if x[key] == nil then
            return missing(path .. tostring(key), 'first', value, 'second')
         end
      end
   end
end

local function tables(a, b, tolerance, negate)
   local message = difference(a, b, tolerance)
   return verdict(message == nil, negate), message or 'The tables are equal'
end

-- Whether `a` and `b` are equal within `tolerance` (with `negate`: are not), and the message if they fail to be.
function equality.general(a, b, tolerance, negate)
   if type(a) ~= type(b) then
      return negate, not negate and string.format('EQ failed: values have different types (first: %s, second: %s)',
         type(a), type(b)) or nil
   elseif type(a) == 'number' then
      return numbers(a, b, tolerance, negate)
   elseif type(a) == 'table' then
      return tables(a, b, tolerance, negate)
   elseif torch.isTensor(a) then
      return equality.tensors(a, b, tolerance, negate)
   elseif torch.isStorage(a) then
      return storages(a, b, tolerance, negate)
   end
   return others(a, b, negate)
end

return equality
