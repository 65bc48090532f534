-- Future: an object for an operation of a worker that may not have ended yet. `kv:future(timestamp)` creates one.
local Future = {}
Future.__index = Future

-- Wait until the operation has ended; `timeout` in seconds.
function Future:wait(timeout)
   self.worker:wait{self.timestamp, timeout = timeout}
end

-- Whether the operation has ended.
function Future:done()
   return self.worker:is_finished(self.timestamp)
end

function Future:__tostring()
   return string.format('luaps.future %d of %s', self.timestamp, tostring(self.worker))
end

return {
   new = function(worker, timestamp)
      worker:is_finished(timestamp) -- raises an error if no operation returned this timestamp
      return setmetatable({worker = worker, timestamp = timestamp}, Future)
   end,
}
