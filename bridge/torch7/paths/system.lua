-- Where this process runs: the machine, its programs, and names for temporary files.
local ffi = require 'ffi'
local posix = require 'paths.posix'

-- The program that this process was started as, as the shell wrote it: behind links, like a virtual environment's.
local function started()
   local file = io.open('/proc/self/cmdline', 'rb')
   if not file then
      return nil
   end
   local program = file:read('*a'):match('^[^%z]+')
   file:close()
   return program
end

-- Temporary files go with the state: closing it collects this userdata.
local temporary = newproxy(true)
local names = {}
getmetatable(temporary).__index = names
getmetatable(temporary).__newindex = names
getmetatable(temporary).__gc = function()
   for name in pairs(names) do
      os.remove(name)
   end
end

return function(paths)
   paths.home = os.getenv('HOME') or '.'

   -- The system's name, the machine's name and the kind of processor.
   function paths.uname()
      local system = ffi.new('paths_system')
      if posix.C.uname(system) < 0 then
         return 'Unknown'
      end
      return ffi.string(system.sysname), ffi.string(system.nodename), ffi.string(system.machine)
   end

   function paths.is_win()
      return paths.uname():match('Windows')
   end

   function paths.is_mac()
      return paths.uname():match('Darwin')
   end

   -- The full name of the first of these programs that lies in a directory of PATH; nil if none does.
   function paths.findprogram(...)
      for _, program in ipairs{...} do
         for directory in (os.getenv('PATH') or '.'):gmatch('[^:]+') do
            local found = paths.concat(directory, program)
            if paths.filep(found) then
               return found
            end
         end
      end
      return nil
   end

   -- The directory of the program that runs; nil if it cannot be found.
   function paths.execdir()
      local program = started()
      local found = program and (program:find('/') and paths.concat(program) or paths.findprogram(program))
      return found and paths.dirname(found) or nil
   end

   -- The name of a new temporary file, which is removed when the state closes.
   function paths.tmpname()
      local name = os.tmpname()
      temporary[name] = true
      return name
   end

   function paths.getregistryvalue()
      error('This function exists only on windows', 2)
   end
end
