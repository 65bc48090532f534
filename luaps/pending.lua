-- Pending: keeps the destinations of a worker's asynchronous pulls alive and in place until the pulls have ended.
--
-- The program may resize a tensor, or give it another storage, while a pull is under way. Such a pull therefore writes
-- to a private tensor, which is copied when the program waits for the operation. FFI memory does not move.
local values = require 'luaps.values'

local Pending = {}
Pending.__index = Pending

local pending = {}

function pending.new(element)
   return setmetatable({element = element, held = {}}, Pending) -- timestamp -> {value, private copy or nil}
end

function Pending:keep(timestamp, value, standin)
   self.held[timestamp] = {value, standin}
end

-- Call when the operation has ended: copies its values to their destination.
function Pending:give_back(timestamp)
   local held = self.held[timestamp]
   if held then
      self.held[timestamp] = nil
      if held[2] then
         values.fill(held[1], held[2], self.element)
      end
   end
end

-- Call when every operation has ended. Copies in the order of the operations, as several may have the same destination.
function Pending:give_all_back()
   local timestamps = {}
   for timestamp in pairs(self.held) do
      timestamps[#timestamps + 1] = timestamp
   end
   table.sort(timestamps)
   for _, timestamp in ipairs(timestamps) do
      self:give_back(timestamp)
   end
end

return pending
