-- The one entry to torch's operators: aten('tanh.out', from, to).
--
-- An operator whose argument kinds are known (see bridge/core/tensors/aten.h for the letters) is called through torch's
-- C shim, without the GIL; any other goes to Python's torch.<name>, which has to wait for it. Errors are in torch's
-- words.
local ffi = require 'ffi'
local native = require 'bridge.native'

local C = native.C
local loaded = false
local lists = {} -- int lists stay here while torch reads them

local function load()
   local path = native.load_torch()
   local missing = C.br_aten_load(path)
   if missing ~= nil then
      native.torch_lacks(ffi.string(missing))
   end
   loaded = ffi.load(path)
end

-- torch's message, without the place in its source.
local function raise()
   local message = ffi.string(C.br_torch_error())
   error((message:gsub('\nException raised from.*', ''):gsub('%s+$', '')), 0)
end

-- torch's library, with what it links to, for code that declares functions of it.
local function ready()
   if not loaded then
      load()
   end
   return loaded
end

-- Lua code that puts argument i into entry k of `values`. Tensors come after everything that allocates: a pointer does
-- not keep its tensor alive.
local assign = {
   T = '   values[%d].tensor = a%d\n',
   i = '   values[%d].integer = a%d\n',
   b = '   values[%d].integer = a%d and 1 or 0\n',
   f = '   values[%d].number = a%d\n',
   S = '   values[%d].number = a%d\n',
   M = '   values[%d].tensor = a%d\n',
   s = '   values[%d].string = a%d\n',
   I = '   values[%d].list, values[%d].integer = intlist(%d, a%d)\n',
}

local LENGTH = 16 -- of lists that are made once; what LuaJIT compiles must not make any

-- A list that can be handed to operators again and again at no cost.
local function list(numbers)
   return {data = ffi.new('int64_t[?]', math.max(#numbers, 1), numbers), count = #numbers}
end

local function intlist(position, numbers)
   if numbers.data then
      return numbers.data, numbers.count
   end
   local n, buffer = #numbers, lists[position]
   if not buffer or n > LENGTH then
      buffer = ffi.new('int64_t[?]', math.max(n, LENGTH))
      lists[position] = buffer
   end
   for i = 1, n do
      buffer[i - 1] = numbers[i]
   end
   return buffer, n
end

local compiled = {}

-- The names of arguments of the kinds in `kinds` (n: None takes none), Lua code that puts them into `values`, and how
-- many entries they take there.
local function arguments(kinds)
   local names, before, after, k = {}, {}, {}, 0
   for kind in kinds:gmatch('%a') do
      if kind ~= 'n' then
         local i = #names + 1
         names[i] = 'a' .. i
         if kind == 'I' then
            before[#before + 1] = assign.I:format(k, k + 1, i, i)
         elseif kind == 'T' or kind == 'M' then
            after[#after + 1] = assign[kind]:format(k, i)
         else
            before[#before + 1] = assert(assign[kind], 'unknown kind of argument'):format(k, i)
         end
      end
      k = k + (kind == 'I' and 2 or 1)
   end
   return names, table.concat(before) .. '   ready()\n' .. table.concat(after), k
end

local source = [[
local C, values, into, intlist, ready, raise = ...
return function(%s)
%s   if C.%s ~= 0 then
      raise(%s)
   end
end
]]

local function compile(key, names, body, call, entries, results)
   names = table.concat(names, ', ')
   local f = assert(loadstring(source:format(names, body, call, names), '=torch.aten.' .. key))(C,
      ffi.new('br_argument[?]', math.max(entries, 1)), ffi.new('br_tensor*[?]', results), intlist, ready, raise)
   compiled[key] = f
   return f
end

local function qualified(name)
   local base, overload = name:match('^([^.]+)%.?(.*)$')
   return 'aten::' .. base, overload
end

-- The function that calls operator `name` (with its overload: tanh.out) with arguments of the kinds in `kinds`, where n
-- (None) takes no argument. `results`: how many tensors it returns (1); all of them were given to it.
local function op(name, kinds, results)
   local key = name .. kinds
   if compiled[key] then
      return compiled[key]
   end
   local names, body, entries = arguments(kinds)
   local base, overload = qualified(name)
   local call = string.format('br_aten_call(%q, %q, %q, values, %d)', base, overload, kinds, results or 1)
   compiled[name] = compile(key, names, body, call, entries, 1)
   return compiled[name]
end

-- The same for an operator that returns new tensors: the function takes as many tensors (or nil) after the arguments,
-- and copies what comes into them.
local function into(name, kinds, results)
   local key = name .. kinds .. '->'
   if compiled[key] then
      return compiled[key]
   end
   local names, body, entries = arguments(kinds)
   for i = 1, results do
      names[#names + 1] = 'r' .. i
      body = body .. string.format('   into[%d] = r%d\n', i - 1, i)
   end
   local base, overload = qualified(name)
   local call = string.format('br_aten_call_into(%q, %q, %q, values, %d, into)', base, overload, kinds, results)
   return compile(key, names, body, call, entries, results)
end

-- r = beta m + alpha a b, of matrices or batches of matrices.
local function matmul(r, m, a, b, beta, alpha)
   ready()
   if C.br_aten_matmul(r, m, a, b, beta, alpha) ~= 0 then
      raise()
   end
end

return setmetatable({op = op, into = into, list = list, matmul = matmul, ready = ready, raise = raise}, {
   __call = function(_, name, ...)
      local f = compiled[name]
      if f then
         return f(...)
      elseif native.python then
         return native.python(name, ...)
      end
      error(string.format("torch.%s needs Python's torch, which this state has no way to", name), 2)
   end
})
