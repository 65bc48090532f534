-- Argument forms: one line of text says which arguments a function takes, and becomes a compiled matcher.
--
-- A form is words separated by blanks. `T`: a tensor of the operation's type; `Byte`, `Long`, ...: of that type;
-- `T~2D`: with so many dimensions; `{T+}`: a table of such tensors. `real`: a number of the type's; `accreal`: of the
-- type that it is summed in; `long`, `int`, `index`, `double`, `boolean`, `Generator`: those. `N|V`: a string that
-- begins with one of these letters, of which the function gets the letter. `sizes`: numbers, or one LongStorage, at the
-- end. `[...]` may be left out; `[real=1]` gives what stands for it then.
--
-- `*T` is the result: a function makes it when it is not given, a method's is its first argument. `[*T]`: made by a
-- method, too. `*T!`: a function must be given it, too. `*T?`: one that is not given is nil for the form's function.
-- `T+` is the source: a method without it works on its result.
--
-- A function works on the type of its first argument or else of the second one, of a table's first tensor, of the type
-- that a last string names, or else on the default type; a method on its class's. Forms are tried in their order, and
-- within one those with fewer, and earlier, optional words first: torch.cwrap's order, which decides where two fit.
--
-- The functions for types on a device are compiled from the same forms, all types shifted. Those of the CPU know
-- nothing of them; one that finds no form for its arguments hands them to its twin if there are tensors on a device
-- among them.
local ffi = require 'ffi'
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'
local expected = require 'torch.expected'
local compiled = require 'bridge.runtime.compiled'

local forms = {}

local stamp = compiled.stamp(debug.getinfo(1, 'S').source:sub(2)) or '' -- of the rules below

local twins = {} -- function for types of the CPU -> the same for those on the device
local functions = setmetatable({}, {__mode = 'k'}) -- function of torch -> the functions for each type

local numbers = {real = true, accreal = true, long = true, int = true, index = true, double = true}
local whole = {long = true, int = true, index = true}
local tests = {boolean = "type(%s) == 'boolean'", Generator = 'generator(%s)', array = 'array(%s)'}

-- {kind, result, source, optional, default, dims, ...} of one word.
local function parse(word)
   local inner = word:match('^%[(.*)%]$')
   local token = {optional = inner ~= nil}
   inner, token.default = (inner or word):match('^([^=]+)=?(.*)$')
   if inner:find('|', 1, true) then
      token.kind, token.letters = '(' .. inner .. ')', inner:gsub('|', '')
      token.default = token.default ~= '' and string.format('%q', token.default) or ''
   elseif inner:sub(1, 1) == '{' then
      token.kind = 'array'
   elseif numbers[inner] or tests[inner] or inner == 'sizes' then
      token.kind = inner
   else
      token.given = inner:sub(-1) == '!'
      token.result = inner:sub(1, 1) == '*'
      token.bare = inner:sub(-1) == '?'
      token.source = inner:sub(-1) == '+'
      token.kind, token.dims = inner:gsub('[*+!?]', ''):match('^(%a+)~?(%d*)')
      token.tensor, token.dims = true, token.dims ~= '' and token.dims or nil
   end
   return token
end

-- The forms of a list (a form and a function after each other), for functions or for methods.
local function parsed(list, ismethod)
   local all = {}
   for i = 1, #list, 2 do
      local form = {}
      for word in list[i]:gmatch('%S+') do
         local token = parse(word)
         if token.tensor and not token.optional then
            token.optional = ismethod and token.source or not ismethod and token.result and not token.given
         end
         form[#form + 1] = token
      end
      all[#all + 1] = form
   end
   return all
end

-- Every choice of a form's words, in the order in which they are tried: each a list of which are there.
local function choices(form)
   local all = {{}}
   for i = 1, #form do -- the first word changes fastest
      local more = {}
      for present = 0, form[i].optional and 1 or 0 do
         for _, choice in ipairs(all) do
            local with = {unpack(choice, 1, #form)}
            with[i] = not form[i].optional or present == 1
            more[#more + 1] = with
         end
      end
      all = more
   end
   return all
end

-- The code that recognises one choice of words, and how many arguments that are; it calls the form's function. `typed`
-- is told which arguments have an element type to look at.
local function branch(form, number, present, shift, typed)
   local conditions, values, count, open = {}, {}, 0, false
   local function condition(...)
      conditions[#conditions + 1] = string.format(...)
   end
   for i, token in ipairs(form) do
      if present[i] then
         count = count + 1
         local a = 'a' .. count
         values[i] = a
         if token.tensor then
            typed[count] = true
            local id = token.kind ~= 'T' and elements[token.kind].id
            if id and shift > 0 and not token.result then
               condition('(d%d == %d or d%d == %d)', count, id + shift, count, id) -- indices, say, of the CPU
            else
               condition('d%d == %s', count, id and id + shift or 'T')
            end
            if token.dims then
               condition('cast(pointer, %s).nDimension == %s', a, token.dims)
            end
         elseif token.letters then
            condition("type(%s) == 'string' and match(%s, '^[%s]')", a, a, token.letters)
            values[i] = string.format('match(%s, "^.")', a)
         elseif token.kind == 'sizes' then
            open = true
            condition('sizes(select(%d, ...))', count)
            values[i] = string.format('select(%d, ...)', count)
         elseif numbers[token.kind] then
            condition("type(%s) == 'number'", a)
            values[i] = whole[token.kind] and string.format('whole(%s)', a) or a
         else
            condition(tests[token.kind], a)
         end
      end
   end
   for i, token in ipairs(form) do
      if not present[i] and token.result and not token.bare then
         values[i] = string.format('new(%s)', token.kind == 'T' and 'T' or elements[token.kind].id + shift)
      elseif not present[i] then
         values[i] = token.source and values[1] or token.default ~= '' and token.default or 'nil'
      end
   end
   if #conditions == 0 then
      conditions[1] = 'true'
   end
   return string.format('         if %s then\n            return f%d(%s)\n         end\n',
      table.concat(conditions, ' and '), number, table.concat(values, ', ')), count, open
end

-- All branches: those for equally many arguments together, in their order; how many arguments there are at most, and
-- which of them have an element type to look at.
local function branches(all, shift)
   local groups, most, typed, code = {}, 1, {true}, {}
   for number, form in ipairs(all) do
      for _, choice in ipairs(choices(form)) do
         local text, count, open = branch(form, number, choice, shift, typed)
         groups[count] = groups[count] or string.format('      if n %s %d then\n', open and '>=' or '==', count)
         groups[count] = groups[count] .. text
         most = math.max(most, count)
      end
   end
   for count = 0, most do
      code[#code + 1] = groups[count] and groups[count] .. '      end\n'
   end
   return table.concat(code), most, typed
end

local isgenerator
local function generator(value)
   isgenerator = isgenerator or require('torch.generator').state
   return isgenerator(value) ~= nil
end

-- A table whose first entry is there.
local function array(value)
   return type(value) == 'table' and rawget(value, 1) ~= nil
end

-- Nothing but numbers, or one LongStorage?
local function sizes(...)
   local n = select('#', ...)
   if n == 1 and object.storagetype((...)) == elements.Long.id then
      return true
   end
   for i = 1, n do
      if type((select(i, ...))) ~= 'number' then
         return false
      end
   end
   return true
end

-- The same arguments with the numbers that are given as strings (or 64-bit integers); nothing if there is none.
local function numeric(...)
   local given, changed = {...}, false
   for i = 1, select('#', ...) do
      local kind = type(given[i])
      if kind == 'string' or kind == 'cdata' then
         local number = arguments.number(given[i])
         given[i], changed = number or given[i], changed or number ~= nil
      end
   end
   return changed and given or nil
end

-- The element type that a function works on, and, if a string at the end names it, how many arguments there are before.
local function chosen(...)
   local n, first = select('#', ...), ...
   local dtype = object.dtype(first) or n > 1 and object.dtype((select(2, ...)))
      or type(first) == 'table' and object.dtype(rawget(first, 1))
   if dtype then
      return dtype
   end
   local named = n > 0 and elements.named[(select(n, ...))]
   if named and object.metatables[named.id].torch then
      return named.id, n - 1
   end
   return object.default
end

-- The code of what makes, from the functions that it calls, the function for a type T. Where `finds` is set there is
-- but one, which looks for the type itself.
local function generate(name, list, ismethod, shift, finds)
   local code, most, looked = branches(parsed(list, ismethod), shift)
   looked[2] = looked[2] or finds and most > 1
   local names, loads, calls = {}, {}, {}
   for i = 1, most do
      names[i] = 'a' .. i
      loads[#loads + 1] = looked[i] and string.format('      local d%d = dtypeof[getmetatable(a%d)]\n', i, i) or nil
   end
   for i = 1, #list / 2 do
      calls[i] = 'f' .. i
   end
   if finds then
      loads[#loads + 1] = string.format('      T = d1%s\n      if not has[T] then\n         return other(nil, ...)\n' ..
         '      end\n', most > 1 and ' or d2' or '')
   end
   local source = string.format(
      'local dtypeof, has, new, other, cast, pointer, type, getmetatable, match, select, whole, generator, array, ' ..
      'sizes, %s = ...\nreturn function(T)\n   return function(...)\n      local n = select("#", ...)\n' ..
      '      local %s = ...\n%s%s      return other(T, ...)\n   end\nend\n',
      table.concat(calls, ', '), table.concat(names, ', '), table.concat(loads), code)
   if finds then
      source = source:gsub('      T = ', '      local T = ', 1)
   end
   return loadstring(source, '=torch.' .. name)
end

-- The same with its functions. What no form fits goes to `other`, after the type.
local function matcher(name, list, ismethod, has, shift, finds, other)
   local called, key = {}, {stamp, name, ismethod and 'method' or finds and 'finder' or 'function', shift}
   for i = 1, #list, 2 do
      key[#key + 1], called[#called + 1] = list[i], arguments.public(list[i + 1], 'operation')
   end
   local make = assert(compiled.get(table.concat(key, '\n'), generate, name, list, ismethod, shift, finds))
   return make(object.dtypeof, has, object.newtensor, other, ffi.cast, ffi.typeof('br_tensor*'), type, getmetatable,
      string.match, select, arguments.truncated, generator, array, sizes, unpack(called))
end

-- The functions of a list of forms for each type, made when they are asked for. `level`: whose fault a mismatch is.
local function typed(name, list, ismethod, shift, level)
   local made, make = {}, nil

   -- No form fits: numbers may be strings; otherwise say what would have fitted.
   local function mismatch(T, ...)
      local given = numeric(...)
      if given then
         return made[T](unpack(given, 1, select('#', ...)))
      end
      error(expected.message(parsed(list, ismethod), elements[T], ...), level)
   end

   return setmetatable(made, {__index = function(_, T)
      make = make or matcher(name, list, ismethod, nil, shift, false, mismatch)
      made[T] = make(T)
      return made[T]
   end})
end

-- The methods `name`, by element type, that match their arguments against `list`: a form and a function after each
-- other. `shift` (0 unless it is given) is added to the element types that the forms name.
function forms.methods(name, list, shift)
   return typed(name, list, true, shift or 0, 2)
end

-- The function torch.name: it finds the type, one of those in `has`.
function forms.compile(name, list, has, shift)
   shift = shift or 0
   local each = typed(name, list, false, shift, 0)
   local self

   -- The first two arguments do not say which type is meant, or no form fits them.
   local function other(T, ...)
      local twin = twins[self]
      for i = 1, twin and select('#', ...) or 0 do
         local dtype = object.dtype((select(i, ...)))
         if dtype and dtype >= elements.DEVICE then
            return twin(...)
         end
      end
      local count
      if not T then
         T, count = chosen(...)
         if twin and T >= elements.DEVICE then
            return twin(...)
         end
      end
      if not has[T] then
         error(string.format('%s does not implement the torch.%s() function', elements[T].tensortype, name), 0)
      elseif count then
         return each[T](unpack({...}, 1, count))
      end
      return each[T](...)
   end

   self = matcher(name, list, false, has, shift, true, other)()
   functions[self] = each
   return self
end

-- The function f of torch for one element type: torch.FloatTensor.torch.zeros. Nothing for functions without forms.
function forms.typed(f, T)
   return functions[f] and functions[f][T]
end

-- `twin` does for types on the device what f does for the CPU's.
function forms.twin(f, twin)
   twins[f] = twin
end

return forms
