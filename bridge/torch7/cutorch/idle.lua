-- Streams of a device whose work is done when the call returns: nothing ever waits.
local function nothing()
end

return {
   use = nothing,
   synchronize = nothing,
   wait = nothing,
   record = nothing,
   await = nothing,
   finish = nothing,
   passed = function()
      return true
   end,
}
