-- Pending: what asynchronous pulls of a worker write to, kept alive and in its place until they have ended.
--
-- A tensor may be resized, or set to another storage, while a pull is on its way. So a pull into one writes to a tensor
-- that nobody else knows, which is copied when the operation is waited for. FFI memory does not move.
local values = require 'luaps.values'

local Pending = {}
Pending.__index = Pending

local pending = {}

function pending.new(element)
   return setmetatable({element = element, held = {}}, Pending) -- by timestamp: {value, what stands in for it or nil}
end

function Pending:keep(timestamp, value, standin)
   self.held[timestamp] = {value, standin}
end

-- The operation has ended.
function Pending:give_back(timestamp)
   local held = self.held[timestamp]
   if held then
      self.held[timestamp] = nil
      if held[2] then
         values.fill(held[1], held[2], self.element)
      end
   end
end

-- Every operation has ended: in their order, as several may fill the same.
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
