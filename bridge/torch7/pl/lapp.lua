-- Command lines, read as their help text says: `local args = lapp[[ ... ]]`.
--
-- A line of the text that begins with '-x', '--long', '-x,--long' or '<name>' declares an option or an argument; behind
-- it, in parentheses, its type and default: (number), (default 0.5), (string default 'a'), (a|b|c), (1..10), (file-in).
-- 'name...' takes all that is left.
local types = require 'pl.types'

local lapp = {show_usage_error = true}

local text = ''       -- of the help
local converters = {} -- name -> {converter, constraint}

local function script()
   return arg and arg[0] and (arg[0]:gsub('.+[\\/]', ''):gsub('%.%a+$', '')) or 'prog'
end

-- End with a message and the help.
function lapp.quit(message, nousage)
   if message then
      io.stderr:write(message, '\n\n')
   end
   if not nousage then
      io.stderr:write(text, '\n')
   end
   os.exit(1)
end

function lapp.error(message, nousage)
   if not lapp.show_usage_error then
      nousage = true
   elseif lapp.show_usage_error == 'throw' then
      error(script() .. ': ' .. message, 0)
   end
   lapp.quit(script() .. ': ' .. message, nousage)
end

function lapp.assert(condition, message)
   if not condition then
      lapp.error(message or 'assertion failed!')
   end
end

function lapp.open(name, mode)
   local file, message = io.open(name, mode)
   if not file then
      lapp.error(message, true)
   end
   return file
end

-- A type of one's own: a function (or a type's name) that converts, and one that checks.
function lapp.add_type(name, converter, constraint)
   converters[name] = {converter, constraint}
end

local function number(value)
   local found = tonumber(value)
   if not found then
      lapp.error('unable to convert to number: ' .. value)
   end
   return found
end

local files = {['file-in'] = 'r', ['file-out'] = 'w'}
local standard = {stdin = {io.stdin, 'file-in'}, stdout = {io.stdout, 'file-out'}, stderr = {io.stderr, 'file-out'}}

-- A word of the command line as the option's type.
local function convert(option, value)
   local kind = option.kind
   local own = converters[kind]
   if own then
      local converter, constraint = own[1], own[2]
      value = type(converter) == 'function' and converter(value) or type(converter) == 'string'
         and convert({kind = converter, name = option.name}, value) or value
      if constraint then
         constraint(value)
      end
   elseif kind == 'number' or kind == 'range' then
      value = number(value)
      if option.low and not (value >= option.low and value <= option.high) then
         lapp.error(option.name .. ' out of range')
      end
   elseif kind == 'integer' then
      value = number(value)
      if not types.is_integer(value) then
         lapp.error('unable to convert to integer: ' .. value)
      end
   elseif kind == 'boolean' then
      value = value ~= 'false' and value ~= false
   elseif kind == 'enum' then
      if not option.choices[value] then
         lapp.error(("value '%s' not in %s"):format(value, option.range))
      end
   elseif files[kind] then
      value = standard[value] and standard[value][1] or lapp.open(value, files[kind])
   end
   return value
end

-- ---- the help text

local function range(option, description)
   local low, high = description:match('^([^%.]+)%.%.(.+)$')
   if low and tonumber(low) and tonumber(high) then
      option.kind, option.low, option.high, option.range = 'range', tonumber(low), tonumber(high), description
      return true
   elseif description:find('|') then
      option.kind, option.choices, option.range = 'enum', {}, description
      for choice in description:gmatch('[^|]+') do
         option.choices[choice] = true
      end
      return true
   end
   return false
end

local known = {string = true, number = true, int = true, integer = true, boolean = true, ['file-in'] = true,
   ['file-out'] = true}

-- What stands in parentheses: the type, and after 'default' its value.
local function describe(option, description)
   local before, default = description:match('^(.-)%s*default%s*(.*)$')
   local kind = (before or description):match('^%s*(.-)%s*$')
   if kind:find('^optional') then
      option.optional, kind = true, kind:gsub('^optional%s*', '')
   end
   if default then
      default = default:match("^'(.*)'%s*$") or default:match('^"(.*)"%s*$') or default
   end
   if kind == '' and default then
      if tonumber(default) then
         kind = 'number'
      elseif default == 'true' then -- but 'false' is a string: so it is in the original
         kind = 'boolean'
      elseif standard[default] then
         kind = standard[default][2]
      else
         kind = 'string'
      end
   end
   if kind == 'int' then
      kind = 'integer'
   end
   if kind ~= '' and not range(option, kind) then
      if not known[kind] and not converters[kind] then
         lapp.error(kind .. ' is unknown type')
      end
      option.kind = kind
   end
   if default then
      option.optional = true
      option.default = default
   end
end

-- The option that a line declares, if it does.
local function declaration(line)
   local option
   local short, long, rest = line:match('^%s*%-(%w),%s*%-%-([%w_%-]+)(.*)$')
   if not short then
      short, rest = line:match('^%s*%-(%w)%f[^%w](.*)$')
   end
   if not short then
      long, rest = line:match('^%s*%-%-([%w_%-]+)(.*)$')
   end
   if short or long then
      option = {short = short, long = long, name = (long or short):gsub('%W', '_')}
   else
      local name
      name, rest = line:match('^%s*<([%w_%-%.]+)>(.*)$')
      if not name then
         return nil
      end
      local plain = name:match('^(.*)%.%.%.$')
      option = {positional = true, name = (plain or name):gsub('%W', '_'), many = plain ~= nil}
   end
   local many, after = rest:match('^%s*(%.%.%.)(.*)$')
   if many then
      option.many, rest = true, after
   end
   local description = rest:match('^[%s,]*%(([^%)]*)%)')
   if description then
      describe(option, description)
   end
   if option.default == nil and not option.kind then
      option.kind = option.positional and 'string' or 'boolean'
   end
   if option.kind == 'boolean' and option.default == nil and not option.positional then
      option.optional, option.default = true, 'false'
   end
   return option
end

local function declarations(help)
   local options, positional, byflag = {}, {}, {}
   for line in help:gmatch('[^\n]+') do
      local option = declaration(line)
      if option then
         options[#options + 1] = option
         if option.positional then
            positional[#positional + 1] = option
         end
         if option.short then
            byflag[option.short] = option
         end
         if option.long then
            byflag[option.long] = option
         end
      end
   end
   return options, positional, byflag
end

-- ---- the command line

-- The values of the arguments in `line` (the program's) by the help text: a table by name, and what is left by number.
function lapp.process_options_string(help, line)
   text = help
   local options, positional, byflag = declarations(help)
   local results = {}
   line = line or arg or {}

   local function set(option, word)
      local value = convert(option, word)
      if files[option.kind] then
         results[option.name .. '_name'] = word
      end
      if option.many then
         results[option.name] = option.given and results[option.name] or {}
         table.insert(results[option.name], value)
      else
         results[option.name] = value
      end
      option.given = true
      if lapp.callback then
         lapp.callback(option.name, value, results)
      end
   end

   local i, onlywords = 1, false
   local function following(option)
      i = i + 1
      if line[i] == nil then
         lapp.error(option.name .. ' was expecting a value')
      end
      return line[i]
   end

   local place = 1
   while line[i] ~= nil do
      local word = tostring(line[i])
      local long, value = word:match('^%-%-([^=]+)=?(.*)$')
      local short, glued = word:match('^%-(%a)(.*)$')
      if word == '--' and not onlywords then
         onlywords = true
      elseif long and not onlywords or short and not onlywords then
         local flag = long or short
         local option = byflag[flag] or long and byflag[(long:gsub('_', '-'))]
         if flag == 'help' or flag == 'h' and (not option or option.name == 'help') then
            lapp.quit()
         elseif not option then
            lapp.error('unrecognized parameter: ' .. flag)
         end
         local assigned = long and word:find('=') ~= nil
         if option.kind == 'boolean' and not assigned then
            set(option, option.default == 'true' and 'false' or 'true')
            if short and glued ~= '' then -- several in one word: -vx
               line = {unpack(line)}
               line[i] = '-' .. glued
               i = i - 1
            end
         elseif long then
            set(option, assigned and value or following(option))
         else
            set(option, glued ~= '' and (glued:gsub('^=', '')) or following(option))
         end
      else
         local option = positional[place]
         if option then
            set(option, word)
            if not option.many then
               place = place + 1
            end
         else
            results[#results + 1] = word
         end
      end
      i = i + 1
   end

   for _, option in ipairs(options) do
      if not option.given then
         if option.default ~= nil then
            set(option, option.default)
         elseif option.optional then
            results[option.name] = option.many and {} or nil
         elseif option.positional or option.kind ~= 'boolean' then
            lapp.error(('missing required parameter: %s'):format(option.name))
         end
      end
   end
   return results
end

return setmetatable(lapp, {
   __call = function(self, help, line)
      return self.process_options_string(help, line)
   end,
})
