-- One entry of the interactive mode: the values of an expression are printed, statements run, `$` runs a command of the
-- shell, `?` asks for help. A semicolon at the end keeps the values from being printed.
local HELP = [[
th takes Lua, one entry at a time; an entry that is not complete goes on in the next line.

   1 + 1            values are printed (= before them is allowed, ; behind them prevents it)
   _LAST, _RESULTS  the value of the last entry, and of all of them
   $ ls -l          a command of the shell; its output is _LAST then
   ? torch.randn    help for a function
   who()            the program's globals
   import 'torch'   all functions of a package as globals
   exit             leaves, as the end of the input does]]

local latest -- what this put into the global _

-- The value of the last entry.
local function keep(value)
   local results = rawget(_G, '_RESULTS')
   results[#results + 1] = value
   rawset(_G, '_LAST', results[#results])
   if rawequal(rawget(_G, '_'), latest) then
      rawset(_G, '_', value)
      latest = value
   end
end

local function command(line)
   local pipe = assert(io.popen(line))
   local output = pipe:read('*a')
   pipe:close()
   io.write(output)
   io.flush()
   keep(output)
end

-- Run an entry. True: it goes on in the next line.
return function(source)
   local line = source:match('^%s*%$(.*)')
   if line then
      command(line)
      return false
   end
   local topic = source:match('^%s*%?%s*(.-)%s*$')
   if topic == '' then
      print(HELP)
      return false
   elseif topic then
      source = 'help(' .. topic .. ')'
   end
   local chunk, message
   local printed = not source:find(';%s*$') and not source:find('^%s*print')
   if printed and load('return ' .. source .. '\n') then
      chunk = load('return {' .. source .. '\n}', '=stdin')
   end
   if chunk then
      local values = chunk()
      rawset(_G, '_RESULT', values)
      print(unpack(values))
      if values[1] ~= nil then
         keep(values[1])
      end
      return false
   end
   chunk, message = load(source, '=stdin')
   if chunk then
      chunk()
      return false
   elseif message:find("'<eof>'$") then
      return true
   end
   error(message, 0)
end
