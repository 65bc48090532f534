-- Measures how long named pieces of a program take, by the clock on the wall and by the processor's.
local sys = require 'sys'

local methods = {}

-- A profiler; with mode 'off' it prints nothing, `verbose` prints at every start and lap.
local function constructor(mode, verbose)
   local self = {events = {}, list = {}, off = mode == 'off', verbose = verbose or false}
   for name, method in pairs(methods) do
      self[name] = method
   end
   return self
end

local function event(self, name)
   return self.events[name]
      or error('# ERROR: There is no such profiler - ' .. tostring(name) .. ', create it first', 3)
end

-- Begin to measure; with 'fps' the report gives turns per second too.
function methods:start(name, fps)
   local started = self.events[name]
   if not started then
      started = {name = name}
      self.events[name] = started
      table.insert(self.list, started)
   end
   started.cpu, started.real = os.clock(), sys.clock()
   if fps == 'fps' then
      started.fps = true
   end
   if self.verbose then
      io.write('<' .. name .. '>')
      io.flush()
   end
end

function methods:setColor(name, color)
   event(self, name).color = color
end

-- Seconds since the start, divided by `divider` if there is one.
function methods:cpu(name, divider)
   local started = event(self, name)
   started.cpud = (os.clock() - started.cpu) / (divider or 1)
   return started.cpud
end

function methods:real(name, divider)
   local started = event(self, name)
   started.reald = (sys.clock() - started.real) / (divider or 1)
   return started.reald
end

function methods:lap(name, divider)
   local real, cpu = self:real(name, divider), self:cpu(name, divider)
   if self.verbose then
      io.write('\r')
      self:print(name)
   end
   return real, cpu
end

function methods:format(name)
   local measured = event(self, name)
   return string.format('$ real | cpu: %f | %f <%s>', measured.reald or -1, measured.cpud or -1, name)
end

function methods:print(name)
   if not self.off then
      print(self:format(name))
   end
end

function methods:formatAll()
   local lines = {'$ profiler report:'}
   for _, measured in ipairs(self.list) do
      local line = string.format('$ real %f | cpu %f <%s>', measured.reald or -1, measured.cpud or -1, measured.name)
      if measured.fps and measured.reald then
         line = line .. string.format(' = %f fps', 1 / measured.reald)
      end
      table.insert(lines, line)
   end
   return table.concat(lines, '\n')
end

function methods:printAll()
   if not self.off then
      print(self:formatAll())
   end
end

return constructor
