-- A command line with checks of its own, on the base of torch.CmdLine, and a logger, as translation programs wrote them.
local path = require 'pl.path'

onmt = onmt or {}
local Options, parent = torch.class('onmt.Options', 'torch.CmdLine')

function Options:__init(script)
   self.script = script
   parent.__init(self)
   self:text('')
   self:option('-config', '', 'Read options from this file.', {valid = Options.exists})
end

function Options.exists(value)
   return value == '' or path.exists(value) ~= false and path.exists(value) ~= nil, 'the file must exist'
end

function Options.from(least)
   return function(value)
      return type(value) == 'number' and value >= least, 'the number must be at least ' .. least
   end
end

-- Options of an entry that come more than once are kept as they were first.
function Options:option(key, default, help, meta)
   for _, entry in ipairs(self.helplines) do
      if entry.key == key then
         return
      end
   end
   parent.option(self, key, default, help)
   self.options[key].meta = meta
end

function Options:argument(key, kind, help)
   parent.argument(self, key, help, kind)
   self.arguments[#self.arguments].meta = {argument = true}
end

function Options:error(message)
   error(self.script .. ': ' .. message)
end

local function bare(key)
   return (key:gsub('^%-+', ''))
end

-- Options take words up to the next one: a table takes many.
function Options:__readOption__(params, arg, i)
   local option = self.options[arg[i]]
   if not option then
      self:error('unknown option ' .. arg[i])
   elseif option.type ~= 'table' then
      return parent.__readOption__(self, params, arg, i)
   end
   local values = {}
   while arg[i + 1 + #values] and arg[i + 1 + #values]:find('-%a') ~= 1 do
      table.insert(values, arg[i + 1 + #values])
   end
   params[bare(arg[i])] = values
   return 1 + #values
end

function Options:parse(arg)
   local params = parent.parse(self, arg)
   for name, value in pairs(params) do
      local option = self.options['-' .. name]
      local meta = option and option.meta
      if meta and meta.valid then
         local valid, reason = meta.valid(value)
         if not valid then
            self:error('invalid argument for option -' .. name .. ': ' .. reason)
         end
      end
   end
   if params.config ~= '' then
      for line in io.lines(params.config) do
         local key, value = line:match('^%s*([^#=]-)%s*=%s*(.-)%s*$')
         if key then
            self:__readOption__(params, {'-' .. key, value}, 1)
         end
      end
   end
   return params
end

local Logger = torch.class('onmt.Logger')

function Logger:__init(file, mute)
   self.mute = mute or false
   self.file = file and assert(io.open(file, 'w'))
end

function Logger:info(...)
   local line = string.format('[%s INFO] %s', os.date('%x'), string.format(...))
   if not self.mute then
      print(line)
   end
   if self.file then
      self.file:write(line .. '\n')
      self.file:flush()
   end
end

function Logger:shutDown()
   self.file:close()
end

return onmt
