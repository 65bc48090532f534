-- What goes over a connection: frames. A head says what follows: a value as torch.save writes it, or the bare elements
-- of a tensor or storage. What comes from the network is not believed: sizes are checked before memory is taken, memory
-- grows with what has arrived, and functions do not run.
local ffi = require 'ffi'
local torch = require 'torch'
local elements = require 'torch.elements'
local object = require 'torch.object'
local distrust = require('torch.file').distrust
local transfer = require 'ipc.transfer'

ffi.cdef[[
typedef struct { uint32_t magic; uint8_t kind, dtype, dimensions, zero; int64_t bytes; int64_t size[64]; } ipc_head;
]]

local MAGIC, SWAPPED = 0x4350494d, 0x4d495043
local VALUE, TENSOR, STORAGE = 0, 1, 2
local FIXED = 16 -- bytes of a head without its sizes
local DIMENSIONS = 64
local STEP = 2^24 -- bytes that are taken on trust; then as many again as have come
local CHAR = elements.Char.id
local REFUSED = 'a function that came over the network was called: it is code of whoever sent it; '
   .. 'ipc.allowFunctions(true) in the receiving program lets it run'

local frame = {
   limit = 2^30,     -- bytes of a value, or of a tensor that is not received into one
   functions = false -- whether those that are received run
}

-- ---- sending

-- The memory of a value: {kind, dtype, sizes, pointer, bytes, owner}.
local function tensor(value)
   local dtype = object.dtype(value)
   if dtype >= elements.DEVICE then -- it travels as one of the CPU
      value = value:type((value:type():gsub('%.Cuda(%a-)Tensor$', function(name)
         return '.' .. (name == '' and 'Float' or name) .. 'Tensor'
      end)))
      dtype = object.dtype(value)
   end
   value = value:contiguous()
   local n = value:nElement()
   return {
      kind = TENSOR, dtype = dtype, size = value:size(), owner = value, pointer = n > 0 and value:data() or nil,
      bytes = n * elements[dtype].bytes
   }
end

local function storage(value)
   local dtype, pointer = object.storagetype(value), object.storage(value)
   if dtype >= elements.DEVICE then
      error('ipc: a storage on a device cannot be sent or received into: take a tensor over it', 4)
   end
   local n = object.valid(pointer)
   return {
      kind = STORAGE, dtype = dtype, size = {n}, owner = value, pointer = pointer.live[0],
      bytes = n * elements[dtype].bytes
   }
end

local function serialized(value)
   local file = torch.MemoryFile():binary():longSize(8)
   file:writeObject(value)
   local bytes = file:storage()
   file:close()
   local pointer = object.storage(bytes)
   return {
      kind = VALUE, dtype = 0, size = {}, owner = bytes, pointer = pointer.live[0], bytes = tonumber(pointer.size) - 1
   }
end

-- A value made ready to be sent, to one or to many.
function frame.pack(value)
   if torch.isTensor(value) then
      return tensor(value)
   elseif object.storagetype(value) then
      return storage(value)
   end
   return serialized(value)
end

function frame.send(connection, packed)
   local dimensions = #packed.size
   if dimensions > DIMENSIONS then
      error(string.format('ipc: a tensor of %d dimensions cannot be sent, %d are the most', dimensions, DIMENSIONS), 3)
   end
   local head = ffi.new('ipc_head', {MAGIC, packed.kind, packed.dtype, dimensions, 0, packed.bytes})
   for i = 1, dimensions do
      head.size[i - 1] = packed.size[i]
   end
   transfer.send(connection, head, FIXED + 8 * dimensions, packed.pointer, packed.bytes)
   object.keep(packed.owner)
end

-- ---- receiving

local function sizes(head)
   local size = {}
   for i = 1, head.dimensions do
      size[i] = tonumber(head.size[i - 1])
   end
   return size
end

-- What is wrong with a head; nothing for a good one.
local function fault(head)
   if head.magic ~= MAGIC then
      return head.magic == SWAPPED and 'its host has the other byte order' or 'it does not speak as ipc does'
   elseif head.kind > STORAGE or head.dtype >= elements.count or head.dimensions > DIMENSIONS or head.zero ~= 0
      or head.bytes < 0 or head.bytes >= 2^53 or (head.kind == VALUE and head.dimensions ~= 0)
      or (head.kind == STORAGE and head.dimensions ~= 1) then
      return 'it sent a head that means nothing'
   end
end

-- As `fault`, once the sizes are there.
local function sizefault(head)
   if head.kind == VALUE then
      return
   end
   local n = head.dimensions > 0 and 1 or 0
   for _, size in ipairs(sizes(head)) do
      if size < 0 or (size == 0 and head.kind == TENSOR) then
         return string.format('it sent a tensor with a size of %.0f', size)
      end
      n = n * size
   end
   if n * elements[head.dtype].bytes ~= tonumber(head.bytes) then
      return string.format('it sent %.0f elements in %.0f bytes', n, tonumber(head.bytes))
   end
end

-- The head of the next frame, which stays the next one until its rest is received. Nothing: it is not there yet.
local function head(self, wait)
   if self.arrived then
      return self.head
   end
   self.head = self.head or ffi.new('ipc_head')
   self.headcount = self.headcount or ffi.new('int64_t[1]')
   if self.headcount[0] < FIXED then
      if not transfer.receive(self, self.head, FIXED, self.headcount, wait) then
         return nil
      end
      local wrong = fault(self.head)
      if wrong then
         transfer.abandon(self, 'receiving from', wrong)
      end
   end
   if not transfer.receive(self, self.head, FIXED + 8 * self.head.dimensions, self.headcount, wait) then
      return nil
   end
   local wrong = sizefault(self.head)
   if wrong then
      transfer.abandon(self, 'receiving from', wrong)
   end
   self.arrived = true
   return self.head
end

local function finish(self)
   self.arrived, self.body, self.headcount[0] = false, nil, 0
end

local function describe(kind, dtype, size)
   if kind == VALUE then
      return 'a value that is no tensor'
   end
   return string.format('torch.%s%s of size %s', elements[dtype].name, kind == TENSOR and 'Tensor' or 'Storage',
      #size > 0 and table.concat(size, 'x') or '0')
end

-- Receive the elements of a tensor or storage into one.
local function fill(self, into, got)
   local mine = torch.isTensor(into) and tensor(into) or storage(into)
   local size = mine.kind == TENSOR and mine.size:totable() or mine.size
   local same = mine.kind == got.kind and mine.dtype == got.dtype and mine.bytes == got.bytes
      and table.concat(size, 'x') == table.concat(sizes(got), 'x')
   if not same then
      error(string.format('ipc: %s is to receive what %s sent, but that is %s; recv without it takes that',
         describe(mine.kind, mine.dtype, size), self.peer, describe(got.kind, got.dtype, sizes(got))), 4)
   end
   self.busy = true -- a program that was interrupted has lost what it received in part
   transfer.receive(self, mine.pointer, mine.bytes, ffi.new('int64_t[1]'), true)
   self.busy = false
   finish(self)
   if mine.kind == TENSOR and mine.owner ~= into then
      into:copy(mine.owner)
   end
   object.keep(mine.owner)
   return into
end

-- The storage that the rest of a frame is received into, and so many bytes behind it; nil: not all is there yet.
local function body(self, dtype, bytes, behind, wait)
   local width = elements[dtype].bytes
   local state = self.body
   if not state then
      if bytes > frame.limit then
         transfer.abandon(self, 'receiving from', string.format('it sends %.0f bytes at once, more than the limit of '
            .. '%.0f: receive into a tensor, or raise the limit with ipc.limit(bytes)', bytes, frame.limit))
      end
      state = {storage = object.wrapstorage(object.allocate(dtype, 0)), count = ffi.new('int64_t[1]'), room = 0}
      self.body = state
   end
   local pointer = object.storage(state.storage)
   repeat
      if state.count[0] == state.room then
         state.room = math.min(bytes, state.room + math.max(STEP, state.room))
         object.resizestorage(pointer, (state.room + behind) / width)
      end
      if not transfer.receive(self, pointer.live[0], state.room, state.count, wait) then
         return nil
      end
   until state.room == bytes
   return state.storage
end

local function deserialize(self, bytes)
   local pointer = object.storage(bytes)
   ffi.cast('char *', pointer.live[0])[pointer.size - 1] = 0
   local file = torch.MemoryFile(bytes, 'r'):binary():longSize(8)
   if not frame.functions then
      distrust(file, REFUSED)
   end
   local ok, value = pcall(file.readObject, file)
   local read = file:position()
   file:close()
   if not ok then
      error(string.format('ipc: %s sent a value that cannot be read: %s', self.peer, tostring(value)), 0)
   elseif read ~= tonumber(pointer.size) then
      local left = tonumber(pointer.size) - read
      error(string.format('ipc: %s sent a value with %.0f bytes behind it', self.peer, left), 0)
   end
   return value
end

-- The next value. `into`: a tensor or storage that takes the elements of one like it. True and the value; or false:
-- it is not there yet, and the caller does not wait.
function frame.receive(self, into, wait)
   local got = head(self, wait)
   if not got then
      return false
   elseif torch.isTensor(into) or object.storagetype(into) then
      return true, fill(self, into, got)
   end
   local kind, dtype, size = got.kind, tonumber(got.dtype), sizes(got)
   local bytes = tonumber(got.bytes)
   local storage_ = body(self, kind == VALUE and CHAR or dtype, bytes, kind == VALUE and 1 or 0, wait)
   if not storage_ then
      return false
   end
   finish(self)
   if kind == VALUE then
      return true, deserialize(self, storage_)
   elseif kind == STORAGE then
      return true, storage_
   elseif #size == 0 then
      return true, torch[elements[dtype].name .. 'Tensor']()
   end
   return true, torch[elements[dtype].name .. 'Tensor'](storage_, 1, torch.LongStorage(size))
end

return frame
