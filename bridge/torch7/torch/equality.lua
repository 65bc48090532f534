-- Deep comparison of two values, as torch.Tester's :eq and :ne make it: whether they are as wanted, and in which way
-- they are not.
--
-- With `negate` two values have to differ; a message then says in what they do not. Tables are compared level by level,
-- so that what is reported is the difference nearest to the top; a pair of tables is compared once, so that cycles end.
local equality = {}

local function kind(value)
   return torch.isTensor(value) and 'tensor' or torch.isStorage(value) and 'storage' or type(value)
end

local function relation(negate)
   return negate and 'NE(~=)' or 'EQ(==)'
end

-- The largest difference between two tensors with equally many elements of one type; equal infinities do not differ.
local function difference(a, b)
   a, b = a:double():contiguous(), b:double():contiguous()
   local n = a:nElement()
   local pa, pb = a:data(), b:data()
   local most = 0
   for i = 0, n - 1 do
      local x, y = pa[i], pb[i]
      local d = x == y and 0 or math.abs(x - y)
      if d ~= d then
         return d
      end
      most = d > most and d or most
   end
   return most, a, b -- mentioned until here: their memory was read through pointers
end

function equality.tensors(a, b, tolerance, negate, ignoredims)
   if not ignoredims and a:dim() ~= b:dim() then
      return negate, 'The tensors have different dimensions'
   elseif torch.type(a) ~= torch.type(b) then
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
   local most = (difference(a, b))
   local success = most <= tolerance
   if negate then
      success = not success
   end
   return success, string.format('Tensor%s violation: max diff=%s, tolerance=%s', relation(negate), tostring(most),
      tostring(tolerance))
end

function equality.storages(a, b, tolerance, negate)
   if torch.type(a) ~= torch.type(b) then
      return negate, 'The storages have different types'
   elseif a:size() ~= b:size() then
      return negate, 'The storages have different sizes'
   end
   local function tensor(storage)
      return torch[torch.type(storage):match('%.(%a+)Storage$') .. 'Tensor']():set(storage)
   end
   return equality.tensors(tensor(a), tensor(b), tolerance, negate)
end

local function numbers(a, b, tolerance, negate)
   local d = a == b and 0 or math.abs(a - b)
   local success = d <= tolerance
   if negate then
      success = not success
   end
   return success, string.format('Number%s violation: |%s - %s| %s tolerance=%s', relation(negate), tostring(a),
      tostring(b), negate and '<=' or '>', tostring(tolerance))
end

local function plain(a, b, _, negate)
   local success = a == b
   if negate then
      success = not success
   end
   return success, string.format('Objects %s violation: %s %s %s', relation(negate), tostring(a),
      negate and '==' or '~=', tostring(b))
end

local leaves = {tensor = equality.tensors, storage = equality.storages, number = numbers}

-- Why two values that are no tables differ; nil if they are equal.
local function unequal(a, b, tolerance)
   local what = kind(a)
   if what ~= kind(b) then
      return string.format('The objects have different types: %s and %s', torch.type(a), torch.type(b))
   end
   local success, message = (leaves[what] or plain)(a, b, tolerance, false)
   return not success and message or nil
end

-- Why two tables differ; nil if they are equal.
local function tablesdiffer(a, b, tolerance)
   local queue, first, last, seen = {{a, b, 'the table'}}, 1, 1, {}
   while first <= last do
      local x, y, path = unpack(queue[first])
      queue[first] = nil
      first = first + 1
      seen[x] = seen[x] or {}
      if x ~= y and not seen[x][y] then
         seen[x][y] = true
         if torch.typename(x) ~= torch.typename(y) then
            return string.format('%s: objects of different classes, %s and %s', path, torch.type(x), torch.type(y))
         end
         for key in next, y do
            if rawget(x, key) == nil then
               return string.format('%s: key %s is in the second table only', path, tostring(key))
            end
         end
         for key, value in next, x do
            local other = rawget(y, key)
            local here = path .. '[' .. tostring(key) .. ']'
            if other == nil then
               return string.format('%s: key %s is in the first table only', path, tostring(key))
            elseif type(value) == 'table' and type(other) == 'table' then
               last = last + 1
               queue[last] = {value, other, here}
            else
               local message = unequal(value, other, tolerance)
               if message then
                  return here .. ': ' .. message
               end
            end
         end
      end
   end
end

local function tables(a, b, tolerance, negate)
   local message = tablesdiffer(a, b, tolerance)
   if negate then
      return message ~= nil, string.format('Table%s violation: the tables are equal, tolerance=%s', relation(true),
         tostring(tolerance))
   end
   return message == nil, message and 'Table' .. relation(false) .. ' violation: ' .. message
end
leaves.table = tables

-- Whether `a` and `b` are equal within `tolerance` (with `negate`: are not), and the message if they fail to be.
function equality.general(a, b, tolerance, negate)
   local what = kind(a)
   if what ~= kind(b) then
      return negate, string.format('The objects have different types: %s and %s', torch.type(a), torch.type(b))
   end
   return (leaves[what] or plain)(a, b, tolerance, negate)
end

return equality
