-- Future: an operation of a worker that may still be on its way, as an object. `kv:future(timestamp)` makes one.
local Future = {}
Future.__index = Future

-- Return when the operation has ended; `timeout` in seconds.
function Future:wait(timeout)
   self.worker:wait{self.timestamp, timeout = timeout}
end

-- Has it ended?
function Future:done()
   return self.worker:is_finished(self.timestamp)
end

function Future:__tostring()
   return string.format('luaps.future %d of %s', self.timestamp, tostring(self.worker))
end

return {
   new = function(worker, timestamp)
      worker:is_finished(timestamp) -- refuses what no operation returned
      return setmetatable({worker = worker, timestamp = timestamp}, Future)
   end,
}
