-- print, io.write and io.stdout write to Python's sys.stdout; io.stderr and errors in finalizers to sys.stderr. os.exit
-- exits through Python. So no output is lost or in the wrong order.
local table_concat, tostring, select = table.concat, tostring, select

return function(options)
   local write, flush = options.write, options.flush
   local stdout, stderr = io.stdout, io.stderr

   function _G.print(...)
      local n = select('#', ...)
      local parts = {...}
      for i = 1, n do
         local text = tostring(parts[i])
         if type(text) ~= 'string' then
            error("'tostring' must return a string to 'print'", 2)
         end
         parts[i] = text
      end
      write('stdout', table_concat(parts, '\t', 1, n) .. '\n')
   end

   local function text(name, ...)
      local n = select('#', ...)
      local parts = {...}
      for i = 1, n do
         local kind = type(parts[i])
         if kind == 'number' then
            parts[i] = tostring(parts[i])
         elseif kind ~= 'string' then
            error(string.format("bad argument #%d to '%s' (string expected, got %s)", i, name,
                                parts[i] == nil and i > n and 'no value' or kind), 3)
         end
      end
      return table_concat(parts, '', 1, n)
   end

   local methods = debug.getmetatable(stdout).__index
   local file_write, file_flush = methods.write, methods.flush

   function methods:write(...)
      if self == stdout or self == stderr then
         write(self == stdout and 'stdout' or 'stderr', text('write', ...))
         return self
      end
      return file_write(self, ...)
   end

   function methods:flush()
      if self == stdout or self == stderr then
         flush(self == stdout and 'stdout' or 'stderr')
         return true
      end
      return file_flush(self)
   end

   function io.write(...)
      return io.output():write(...)
   end

   jit.attach(options.finalizer_failed, 'errfin')

   local exit = options.exit
   function os.exit(code)
      if code == nil or code == true then
         code = 0
      elseif code == false then
         code = 1
      end
      exit(code)
   end
end
