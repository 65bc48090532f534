-- torch.CmdLine: options and arguments of a program, their help, and a log file that print writes to as well.
--
-- `options` (by key), `arguments` (in order) and `helplines` (entries and lines of text as they came) are the fields
-- that programs look into. What --help shows and how errors end is Torch7's to the letter.
return function(torch)
   local CmdLine = torch.class('torch.CmdLine')

   -- A key without its dashes: the name in the table of parameters.
   local function bare(key)
      return (key:gsub('^%-*', ''))
   end

   local function printed(value)
      if type(value) == 'boolean' then
         return value and 't' or 'f'
      end
      return value
   end

   function CmdLine:__init(argseparator, keyseparator)
      self.argseparator = argseparator or ','
      self.keyseparator = keyseparator or '='
      self.options = {}
      self.arguments = {}
      self.helplines = {}
      self.dateformat = nil
      self.silentio = false
   end

   -- ---- what there is

   function CmdLine:option(key, default, help, kind)
      if default == nil then
         error('option ' .. tostring(key) .. ' has no default value')
      end
      kind = kind or type(default)
      if type(default) ~= kind then
         error('option ' .. tostring(key) .. ' has wrong default type value')
      end
      local entry = {key = key, default = default, help = help, type = kind}
      self.options[key] = entry
      table.insert(self.helplines, entry)
   end

   function CmdLine:argument(key, help, kind)
      local entry = {key = key, help = help, type = kind}
      table.insert(self.arguments, entry)
      table.insert(self.helplines, entry)
   end

   function CmdLine:text(text)
      text = text or ''
      assert(type(text) == 'string')
      table.insert(self.helplines, text)
   end

   -- ---- reading a command line

   -- Tell what is wrong, then how to call the program, and end it.
   function CmdLine:error(message)
      print('')
      io.stderr:write(message)
      print('')
      self:help()
      os.exit(1)
   end

   function CmdLine:default()
      local params = {}
      for key, option in pairs(self.options) do
         params[bare(key)] = option.default
      end
      return params
   end

   -- An argument at `arg[i]`; how many words it took.
   function CmdLine:__readArgument__(params, arg, i, n)
      local argument, value = self.arguments[n], arg[i]
      if not argument then
         self:error('invalid argument: ' .. tostring(value))
      end
      if argument.type and type(value) ~= argument.type then
         self:error('invalid argument type for argument ' .. argument.key .. ' (should be ' .. argument.type .. ')')
      end
      params[bare(argument.key)] = value
      return 1
   end

   local readers = {
      string = function(value) return value end,
      number = function(value) return tonumber(value) end,
   }

   -- An option at `arg[i]`; how many words it took. A boolean one takes no value: it turns its default round.
   function CmdLine:__readOption__(params, arg, i)
      local key = arg[i]
      local option = self.options[key]
      if not option then
         self:error('unknown option ' .. tostring(key))
      end
      if option.type == 'boolean' then
         params[bare(key)] = not option.default
         return 1
      end
      local value = arg[i + 1]
      if value == nil then
         self:error('missing argument for option ' .. key)
      end
      local read = readers[option.type or 'string']
      if not read then
         self:error('unknown required option type ' .. option.type)
      end
      value = read(value)
      if value == nil then
         self:error('invalid type for option ' .. key .. ' (should be ' .. option.type .. ')')
      end
      params[bare(key)] = value
      return 2
   end

   local helpers = {['-help'] = true, ['-h'] = true, ['--help'] = true}

   -- The parameters that the words of `arg` make: the defaults, and what they say otherwise.
   function CmdLine:parse(arg)
      local params = self:default()
      local i, n = 1, 0
      while i <= #arg do
         if helpers[arg[i]] then
            self:help(arg)
            os.exit(0)
         end
         if self.options[arg[i]] then
            i = i + self:__readOption__(params, arg, i)
         else
            n = n + 1
            i = i + self:__readArgument__(params, arg, i, n)
         end
      end
      if n ~= #self.arguments then
         self:error('not enough arguments')
      end
      return params
   end

   -- ---- writing

   local function shown(entry)
      return entry.default ~= nil and entry.key or '<' .. bare(entry.key) .. '>'
   end

   function CmdLine:help(arg)
      io.write('Usage: ', arg and arg[0] and arg[0] .. ' ' or '', '[options]')
      for _, argument in ipairs(self.arguments) do
         io.write(' <' .. bare(argument.key) .. '>')
      end
      io.write('\n')
      local width = 0
      for _, entry in ipairs(self.helplines) do
         width = math.max(width, type(entry) == 'table' and #shown(entry) or 0)
      end
      for _, entry in ipairs(self.helplines) do
         if type(entry) == 'table' then
            local key = shown(entry)
            io.write('  ', key, (' '):rep(width - #key), entry.help and ' ' .. entry.help or '')
            if entry.default ~= nil then
               io.write(' [', tostring(entry.default), ']')
            end
         else
            io.write(entry)
         end
         io.write('\n')
      end
   end

   -- A name for a run: `prefix`, the arguments, and every option that is not at its default; those that `ignore` maps
   -- to true stay out, those mapped to false are in always.
   function CmdLine:string(prefix, params, ignore)
      local arguments, options = {}, {}
      prefix = prefix or ''
      for name, value in pairs(params) do
         local option = self.options['-' .. name]
         if ignore[name] then
            print('-- ignore option ' .. name)
         elseif option then
            if value ~= option.default or ignore[name] == false then
               value = printed(value)
               table.insert(options, name .. self.keyseparator .. value)
               print(name, value, option.default)
            end
         else
            local position
            for i, argument in ipairs(self.arguments) do
               position = bare(argument.key) == name and i or position
            end
            if position then
               arguments[position] = name .. self.keyseparator .. value
            else
               print('WARNING: unknown option/argument: ' .. name .. ' IGNORING for DIRECTORY NAME')
            end
         end
      end
      table.sort(options)
      local text = table.concat(options, self.argseparator)
      local first = table.concat(arguments, self.argseparator)
      if first ~= '' then
         text = first .. self.argseparator .. text -- the separator stands there without options, too
      end
      return text == '' and prefix or prefix .. self.argseparator .. text
   end

   -- ---- the log

   function CmdLine:silent()
      self.silentio = true
   end

   -- Put the time, and [name] if there is one, before every line of the log.
   function CmdLine:addTime(name, format)
      format = format or '%Y-%m-%d %H:%M:%S'
      if type(format) ~= 'string' then
         error('Argument has to be string')
      end
      self.dateformat = format .. (name ~= nil and '[' .. name .. ']: ' or '')
   end

   local original -- the print that was there before the first log

   -- From now on print writes to `file` (a name or an open file) too; only there after silent(). The log begins with
   -- the parameters.
   function CmdLine:log(file, params)
      local log, message = io.type(file) == 'file' and file, nil
      if not log then
         log, message = io.open(file, 'w')
      end
      if not log then
         error('cannot write the log: ' .. message, 2)
      end
      original = original or print
      function print(...) -- luacheck: globals print
         if not self.silentio then
            original(...)
         end
         local words = {}
         if self.dateformat then
            words[1] = os.date(self.dateformat)
         end
         for i = 1, select('#', ...) do
            words[#words + 1] = tostring((select(i, ...)))
         end
         words[#words + 1] = '\n'
         log:write(table.concat(words, ' '))
         log:flush()
      end
      print('[program started on ' .. os.date() .. ']')
      print('[command line arguments]')
      for name, value in pairs(params or {}) do
         print(name, value)
      end
      print('[----------------------]')
   end
end
