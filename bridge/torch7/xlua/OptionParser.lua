-- Options from the command line, described one by one in the manner of Python's optparse.
local methods = {}

local function constructor(usage)
   local self = {usage = usage, option_descriptions = {}, option_of = {}}
   for name, method in pairs(methods) do
      self[name] = method
   end
   self:option{'-h', '--help', action = 'store_true', dest = 'help', help = 'show this help message and exit'}
   return self
end

-- Say what is wrong, show the help and end the program.
function methods:fail(message)
   io.stderr:write(message .. '\n')
   self:help()
   os.exit(1)
end

-- Describe an option: {'-x', '--long', dest=, help=, default=, req=, metavar=, action='store'|'store_true'|
-- 'store_false'}.
function methods:option(description)
   table.insert(self.option_descriptions, description)
   for _, flag in ipairs(description) do
      self.option_of[flag] = description
   end
end

-- The words of a command line, '--name=value' taken apart.
local function words(line)
   local list = {}
   for _, word in ipairs(line) do
      local flag, value = word:match('^(%-%-%w+)=(.*)')
      table.insert(list, flag or word)
      if flag then
         table.insert(list, value)
      end
   end
   return list
end

-- The options (into a table, which may be given) and the other arguments.
function methods:parse(options)
   options = options or {}
   local rest = {}
   self.options = options
   for _, description in ipairs(self.option_descriptions) do
      if description.default ~= nil and options[description.dest] == nil then
         options[description.dest] = description.default
      end
   end
   options.__main__ = arg ~= nil
   if not arg then
      return options, rest
   end

   local line = words(arg)
   local i = 1
   while i <= #line do
      local word = line[i]
      local description = self.option_of[word]
      if not description then
         if word:find('^%-') then
            self:fail('invalid option ' .. word)
         end
         table.insert(rest, word)
      elseif description.action == 'store_true' or description.action == 'store_false' then
         options[description.dest] = description.action == 'store_true'
      else
         i = i + 1
         local value = line[i] or description.default
         if not value then
            self:fail('option requires an argument ' .. word)
         end
         options[description.dest] = value
      end
      i = i + 1
   end

   for flag, description in pairs(self.option_of) do
      if description.req and not options[description.dest] then
         self:fail('option ' .. flag .. ' requires an argument ')
      end
   end
   if options.help then
      self:help()
      os.exit()
   end
   return options, rest
end

-- The ways to write an option: '-x X, --long=X'.
function methods:flags(description)
   local ways = {}
   local takes = description.action == nil or description.action == 'store'
   local value = takes and (description.metavar or description.dest:upper())
   for _, flag in ipairs(description) do
      table.insert(ways, takes and flag .. (#flag == 2 and ' ' or '=') .. value or flag)
   end
   return table.concat(ways, ', ')
end

function methods:help()
   local program = 'THISPROG'
   if arg and arg[0] then
      program = arg[-1] and arg[-1] .. ' ' .. arg[0] or arg[0]
   end
   local usage = self.usage:gsub('%%prog', (program:gsub('%%', '%%%%')))
   io.stdout:write('Usage: ', usage, '\n\nOptions:\n')
   local width = 0
   for _, description in ipairs(self.option_descriptions) do
      width = math.max(width, #self:flags(description))
   end
   for _, description in ipairs(self.option_descriptions) do
      local flags = self:flags(description)
      local note = ''
      if description.req then
         note = ' [REQUIRED]'
      elseif description.default then
         note = ' [default = ' .. tostring(description.default) .. ']'
      end
      io.stdout:write('  ', flags, (' '):rep(width - #flags), '  ', description.help or '', note, '\n')
   end
end

-- The options as text: a line each, or with `forfile` the ones that `only` lists (all if it is empty) as part of a
-- file's name.
function methods:tostring(forfile, only)
   if not forfile then
      local script = (arg and arg[0] or 'interpreted.lua'):gsub('.lua', '')
      local text = '<' .. script .. '> configuration:\n'
      for name, value in pairs(self.options) do
         text = text .. ' + ' .. name .. ' = ' .. tostring(value) .. '\n'
      end
      return text
   end
   local wanted, all = {}, not only or #only == 0
   for _, flag in ipairs(only or {}) do
      wanted[flag] = true
   end
   local parts = {}
   for _, description in ipairs(self.option_descriptions) do
      local value = self.options[description.dest]
      if value and (all or wanted[description[1]]) then
         table.insert(parts, description[1] .. '=' .. tostring(value))
      end
   end
   return (table.concat(parts, ','):gsub('/', '|'):gsub(' ', '_'))
end

function methods:summarize(compact)
   io.write(self:tostring(compact))
end

return constructor
