-- The global names: listing and clearing them, and packages that may be missing.
local compiled = require 'bridge.runtime.compiled'

return function(xlua)
   local ours = {} -- the globals that were there before the program's own
   for name in pairs(_G) do
      ours[name] = true
   end

   -- Remove one global, or all that the program made.
   function xlua.clear(name)
      rawset(_G, name, nil)
      collectgarbage()
   end

   function xlua.clearall()
      local names = {}
      for name in pairs(_G) do
         if not ours[name] then
            names[#names + 1] = name
         end
      end
      for _, name in ipairs(names) do
         rawset(_G, name, nil)
         package.loaded[name] = nil
      end
      collectgarbage()
   end

   -- Print the packages that are loaded and the program's globals.
   function xlua.who()
      local libraries, variables = {}, {}
      for name, value in pairs(_G) do
         if package.loaded[name] and name ~= '_G' then
            libraries[#libraries + 1] = name
         elseif not ours[name] then
            variables[name] = value
         end
      end
      xlua.print('')
      xlua.print('Global Libs:')
      xlua.print(libraries)
      xlua.print('')
      xlua.print('Global Vars:')
      xlua.print(variables)
      xlua.print('')
   end

   -- Can a package be found? True and its file; or false and the places that were searched.
   function xlua.installed(name)
      local places = package.path .. ';' .. package.cpath
      local file = package.searchpath(name, places) or compiled.installed(name)
      return file ~= nil, file or places
   end

   -- `require` that prints what is wrong and returns false.
   function xlua.require(name)
      local ok, loaded = pcall(require, name)
      if ok then
         return loaded
      end
      print(loaded)
      print('warning: <' .. name .. '> could not be loaded (is it installed?)')
      return false
   end
end
