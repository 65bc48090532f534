-- Argument forms: one line of text says which arguments a function takes, and becomes a compiled matcher.
--
-- A form is words separated by blanks. `T`: a tensor of the operation's type; `Byte`, `Long`: of that type; `T~2D`:
-- with so many dimensions. `*T` is the result: made when a function is not given it, the first argument of a method.
-- `T+` is the source: a method without it works on its result. `number`, `index`, `boolean`: those. `[...]`: may be
-- left out; `[number=1]` gives what stands for it then. `*T!`: a result that a function must be given, too. `N|V`: a
-- string that begins with one of these letters, of which the function gets the letter.
--
-- The functions for types on a device are compiled from the same forms, all types shifted. Those of the CPU know
-- nothing of them; one that finds no form for its arguments hands them to its twin if there are tensors on a device
-- among them.
local ffi = require 'ffi'
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'
local compiled = require 'bridge.lua.compiled'

local forms = {}

local stamp = compiled.stamp(debug.getinfo(1, 'S').source:sub(2)) or '' -- of the rules below

local twins = {} -- function for types of the CPU -> the same for those on the device

local kinds = {number = 'number', index = 'number', long = 'number', double = 'number', boolean = 'boolean',
   ['function'] = 'function', string = 'string'}

-- {kind, result, source, optional, default, dims} of one word.
local function parse(word)
   local token = {}
   local inner = word:match('^%[(.*)%]$')
   token.optional = inner ~= nil
   inner = inner or word
   inner, token.default = inner:match('^([^=]+)=?(.*)$')
   if inner:find('|', 1, true) then
      token.kind, token.letters = '(' .. inner .. ')', inner:gsub('|', '')
      token.default = token.default ~= '' and string.format('%q', token.default) or ''
      return token
   end
   token.given = inner:sub(-1) == '!'
   token.result = inner:sub(1, 1) == '*'
   token.source = inner:sub(-1) == '+'
   inner = inner:gsub('[*+!]', '')
   token.kind, token.dims = inner:match('^(%a+)~?(%d*)')
   token.tensor = not kinds[token.kind]
   token.dims = token.dims ~= '' and token.dims or nil
   return token
end

-- May the word be missing?
local function optional(token, ismethod)
   return token.optional or not ismethod and token.result and not token.given or ismethod and token.source
end

-- What the error message shows of a form.
local function describe(tokens, element, ismethod)
   local words = {}
   for i, token in ipairs(tokens) do
      local word
      if token.tensor then
         word = (token.kind == 'T' and element.name or token.kind) .. 'Tensor' ..
            (token.dims and '~' .. token.dims .. 'D' or '')
      else
         word = token.kind == 'number' and element.printed or token.kind
      end
      if token.result then
         word = '*' .. word .. '*'
      end
      words[i] = optional(token, ismethod) and '[' .. word .. ']' or word
   end
   return table.concat(words, ' ')
end

-- The code that recognises one choice of arguments and calls the form's function.
local function branch(tokens, present, number, ismethod, shift)
   local tests, values, position, typed = {}, {}, 0, nil
   local result
   for i, token in ipairs(tokens) do
      if present[i] then
         position = position + 1
         local a, d = 'a' .. position, 'd' .. position
         if token.tensor then
            if token.kind ~= 'T' then
               tests[#tests + 1] = string.format('%s == %d', d, elements[token.kind].id + shift)
            elseif typed then
               tests[#tests + 1] = d .. ' == ' .. typed
            else
               tests[#tests + 1] = 'has[' .. d .. ']'
               typed = d
            end
            if token.dims then
               tests[#tests + 1] = string.format('cast(pointer, %s).nDimension == %s', a, token.dims)
            end
         elseif token.letters then
            tests[#tests + 1] = string.format("type(%s) == 'string' and match(%s, '^[%s]')", a, a, token.letters)
            a = string.format('match(%s, "^.")', a)
         else
            tests[#tests + 1] = string.format("type(%s) == '%s'", a, kinds[token.kind])
         end
         values[i] = a
      end
   end
   for i, token in ipairs(tokens) do
      if token.result then
         result = result or i
         values[i] = values[i] or string.format('new(%s)',
            token.kind == 'T' and (typed or 'default()') or elements[token.kind].id + shift)
      elseif not values[i] then
         values[i] = token.source and ismethod and values[result] or token.default ~= '' and token.default or 'nil'
      end
   end
   table.insert(tests, 1, string.format('a%d == nil', position + 1))
   return string.format('   if %s then\n      return f%d(%s)\n   end\n', table.concat(tests, ' and '), number,
      table.concat(values, ', ')), position
end

-- Every choice of optional words; with equally many, the one that has the earlier word comes first.
local function choices(tokens, ismethod)
   local all = {{}}
   for i, token in ipairs(tokens) do
      local more = {}
      for _, choice in ipairs(all) do
         local with = {unpack(choice, 1, i)}
         with[i] = true
         more[#more + 1] = with
         if optional(token, ismethod) then
            local without = {unpack(choice, 1, i)}
            without[i] = false
            more[#more + 1] = without
         end
      end
      all = more
   end
   return all
end

local function describeArguments(...)
   local parts = {}
   for i = 1, select('#', ...) do
      parts[i] = arguments.describe((select(i, ...))) .. ' '
   end
   return #parts == 0 and 'no arguments provided' or table.concat(parts)
end

-- Called when no form fits: numbers may be strings; otherwise say what would have fitted.
local function mismatch(self, name, parsed, has, ismethod, most, ...)
   local given, changed = {...}, false
   local count = 0
   for i = 1, most do
      if given[i] ~= nil then
         count = i
         if type(given[i]) == 'string' or type(given[i]) == 'cdata' then
            local number = arguments.number(given[i])
            if number then
               given[i], changed = number, true
            end
         end
      end
   end
   if changed then
      return self(unpack(given, 1, count))
   end
   local dtype, twin = nil, twins[self]
   for i = 1, count do
      local found = object.dtype(given[i])
      if twin and found and found >= elements.DEVICE then
         return twin(...)
      end
      dtype = dtype or found
   end
   local element = elements[dtype or object.default]
   if not has[element.id] then
      error(string.format('%s does not implement the torch.%s() function', element.tensortype, name),
         ismethod and 2 or 0)
   end
   local texts = {}
   for i, tokens in ipairs(parsed) do
      texts[i] = describe(tokens, element, ismethod)
   end
   error(string.format('invalid arguments: %s\nexpected arguments: %s', describeArguments(unpack(given, 1, count)),
      table.concat(texts, ' | ')), ismethod and 2 or 0)
end

-- The tokens of all forms in `list`.
local function parseall(list)
   local parsed = {}
   for i = 1, #list, 2 do
      local tokens = {}
      for word in list[i]:gmatch('%S+') do
         tokens[#tokens + 1] = parse(word)
      end
      parsed[#parsed + 1] = tokens
   end
   return parsed
end

-- The code of a function that makes the matcher of `list`.
local function generate(name, list, ismethod, shift)
   local code, calls, most = {}, {}, 1
   for number, tokens in ipairs(parseall(list)) do
      calls[number] = 'f' .. number
      for _, choice in ipairs(choices(tokens, ismethod)) do
         local text, count = branch(tokens, choice, number, ismethod, shift)
         code[#code + 1] = text
         most = math.max(most, count)
      end
   end
   local names, loads = {}, {}
   for i = 1, most + 1 do
      names[i] = 'a' .. i
      if i <= most then
         loads[i] = string.format('   local d%d = a%d ~= nil and dtypeof[getmetatable(a%d)]\n', i, i, i)
      end
   end
   return loadstring(string.format(
      'local dtypeof, has, new, default, mismatch, cast, pointer, type, getmetatable, match, %s = ...\n' ..
      'return function(%s)\n%s%s   return mismatch(%s)\nend\n',
      table.concat(calls, ', '), table.concat(names, ', '), table.concat(loads), table.concat(code),
      table.concat(names, ', ')), '=torch.' .. name)
end

local function default()
   return object.default
end

local pointer = ffi.typeof('br_tensor*')

-- A function that matches its arguments against `list`, a form and a function after each other, and calls the first
-- whose form fits. `has`: the element types that the operation exists for.
-- What is added to the element types that it names: `shift`, 0 unless it is given.
function forms.compile(name, list, has, ismethod, shift)
   shift = shift or 0
   local functions, key = {}, {stamp, name, ismethod and 'method' or 'function', shift}
   for i = 1, #list, 2 do
      functions[#functions + 1], key[#key + 1] = list[i + 1], list[i]
   end
   local self, parsed
   local function fail(...) -- gets as many arguments as the matcher has
      parsed = parsed or parseall(list)
      return mismatch(self, name, parsed, has, ismethod, select('#', ...), ...)
   end
   local make = assert(compiled.get(table.concat(key, '\n'), generate, name, list, ismethod, shift))
   self = make(object.dtypeof, has, object.newtensor, default, fail, ffi.cast, pointer, type, getmetatable,
      string.match, unpack(functions))
   return self
end

-- `twin` does for types on the device what f does for the CPU's.
function forms.twin(f, twin)
   twins[f] = twin
end

return forms
