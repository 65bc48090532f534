-- The progress bar, drawn over itself in one line of the terminal.
local sys = require 'sys'

local WIDEST = 120
local MARGIN = 34     -- columns beside the bar, for the times
local SMOOTHING = 100 -- calls over which the time of a step is averaged

local units = {{3600 * 24, 'D'}, {3600, 'h'}, {60, 'm'}, {1, 's'}}

-- A duration in its two largest units: 1h5m, 3s20ms, 0ms.
local function formattime(seconds)
   local text, n = '', 0
   local function add(count, unit)
      if count > 0 and n < 2 then
         text, n = text .. count .. unit, n + 1
      end
   end
   for _, unit in ipairs(units) do
      local count = math.floor(seconds / unit[1])
      seconds = seconds - count * unit[1]
      add(count, unit[2])
   end
   add(math.floor(seconds * 1000), 'ms')
   return n > 0 and text or '0ms'
end

-- Of the terminal: tput asks the one behind standard error, as its own output is read here.
local function columns()
   local pipe = os.getenv('TERM') and io.popen('tput cols')
   local found = pipe and tonumber(pipe:read('*a'))
   if pipe then
      pipe:close()
   end
   return math.min(found or 80, WIDEST)
end

return function(xlua)
   local width     -- of the terminal, asked for by the first bar
   local previous  -- columns that were filled at the last call
   local bar       -- the bar under way: when it began, and the times and indices of the last calls

   xlua.formatTime = formattime

   -- Draw step `current` of `goal`. The bar ends when it is full; a step that is lower then begins a new one.
   function xlua.progress(current, goal)
      width = width or columns()
      local length = width - MARGIN
      local filled = math.floor(current * length / goal)
      local carriage = '\r'
      if not bar and (not previous or filled < previous) then
         bar = {began = sys.clock(), times = {0}, indices = {current}}
         carriage = ''
      end
      if not bar then
         io.write(carriage)
         return
      end
      previous = filled

      local elapsed = sys.clock() - bar.began
      local step = current == bar.indices[1] and 0 or (elapsed - bar.times[1]) / (current - bar.indices[1])
      table.insert(bar.times, elapsed)
      table.insert(bar.indices, current)
      if #bar.times > SMOOTHING then
         table.remove(bar.times, 1)
         table.remove(bar.indices, 1)
      end
      local label = filled < length and ' ETA: ' .. formattime(math.max(0, (goal - current) * step))
         or ' Tot: ' .. formattime(elapsed)
      label = label .. ' | Step: ' .. formattime(step)

      local done = math.max(0, math.min(filled - 1, length))
      local head = filled >= 1 and filled <= length and '>' or ''
      local rest = width - length - 4
      io.write(carriage, ' [', ('='):rep(done), head, ('.'):rep(length - done - #head), '] ',
         (' '):rep(rest), ('\b'):rep(rest), label,
         ('\b'):rep(5 + #label + length / 2), ' ', current, '/', goal, ' ')
      if filled == length then
         bar = nil
         io.write('\n')
      end
      io.write('\r')
      io.flush()
   end
end
