-- Storages and tensors of every type: how they are made, looked at, moved and given back.
local ffi = require 'ffi'
local th = require 'torch.th'

local C = th.C

jit.off(true, true) -- what C calls here may collect, which nothing compiled may do

local function storages(name, ctype)
   local itemsize, elements = ffi.sizeof(ctype), ffi.typeof(ctype .. '*')
   local class = torch.newmetatable('torch.' .. name .. 'Storage')
   local methods = {cdata = th.storage}

   function methods:data() return ffi.cast(elements, th.storage(self).data) end
   function methods:size() return tonumber(th.storage(self).size) end
   function methods:resize(size)
      th.check(C.th_storage_resize(th.storage(self), size, itemsize) == 0,
         'Trying to resize storage that is not resizable')
      return self
   end
   function methods:totable()
      local values = {}
      for i = 1, self:size() do values[i] = tonumber(self:data()[i - 1]) end
      return values
   end

   class.__gc = function(self) C.th_storage_free(th.storage(self)) end
   class.__len = methods.size
   class.__index = function(self, key)
      return type(key) == 'number' and tonumber(methods.data(self)[key - 1]) or methods[key] or class[key]
   end
   class.__newindex = function(self, key, value) self:data()[key - 1] = value end

   torch.enter('torch.' .. name .. 'Storage', setmetatable({}, {__call = function(_, what, address)
      if address then
         return th.push(C.th_storage_over(ffi.cast('void*', address), what), class)
      end
      local values = type(what) == 'table' and what or {}
      local made = th.push(C.th_storage_new(type(what) == 'table' and #what or what or 0, itemsize), class)
      for i, value in ipairs(values) do made[i] = value end
      return made
   end}))
end

local function tensors(name, ctype)
   local itemsize, elements = ffi.sizeof(ctype), ffi.typeof(ctype .. '*')
   local class = torch.newmetatable('torch.' .. name .. 'Tensor')
   local methods = {cdata = th.tensor}

   local function place(self, over, offset, n, sizes, strides)
      local rc = C.th_tensor_place(th.tensor(self), over, offset, n, sizes, strides, itemsize)
      th.check(rc == 0, 'Trying to resize storage that is not resizable')
      return self
   end
   local function like(self) return th.push(C.th_tensor_new(), debug.getmetatable(self)) end
   local function moved(self, offset, n, sizes, strides)
      return place(like(self), th.tensor(self).storage, th.tensor(self).storageOffset + offset, n, sizes, strides)
   end
   local function layout(self)
      local t = th.tensor(self)
      local n = t.nDimension
      local sizes, strides = ffi.new('int64_t[?]', n + 1), ffi.new('int64_t[?]', n + 1)
      ffi.copy(sizes, t.size, 8 * n)
      ffi.copy(strides, t.stride, 8 * n)
      return n, sizes, strides
   end

   function methods:storage()
      local storage = th.tensor(self).storage
      storage.refcount = storage.refcount + 1
      return th.push(storage, torch.getmetatable('torch.' .. name .. 'Storage'))
   end
   function methods:data()
      local t = th.tensor(self)
      return t.storage ~= nil and ffi.cast(elements, t.storage.data) + t.storageOffset or nil
   end
   function methods:dim() return th.tensor(self).nDimension end
   function methods:size(d)
      local t = th.tensor(self)
      if d then return tonumber(t.size[d - 1]) end
      local sizes = torch.LongStorage(t.nDimension)
      for i = 1, t.nDimension do sizes[i] = t.size[i - 1] end
      return sizes
   end
   function methods:stride(d) return tonumber(th.tensor(self).stride[d - 1]) end
   function methods:new(...) return torch[name .. 'Tensor'](...) end
   function methods:resize(...)
      local n, sizes = th.longs(...)
      return place(self, nil, th.tensor(self).storageOffset, n, sizes, nil)
   end
   function methods:resizeAs(other) return self:resize(other:size()) end
   function methods:set(other, offset, ...)
      if torch.isTensor(other) then
         local n, sizes, strides = layout(other)
         return place(self, th.tensor(other).storage, th.tensor(other).storageOffset, n, sizes, strides)
      end
      local n, sizes = th.longs(...)
      return place(self, th.storage(other), offset - 1, n, sizes, nil)
   end
   function methods:narrow(d, first, length)
      local n, sizes, strides = layout(self)
      th.check(first >= 1 and first - 1 + length <= tonumber(sizes[d - 1]), 'out of range')
      sizes[d - 1] = length
      return moved(self, (first - 1) * strides[d - 1], n, sizes, strides)
   end
   function methods:select(d, index)
      local n, sizes, strides = layout(self)
      local offset = (index - 1) * strides[d - 1]
      for i = d, n - 1 do sizes[i - 1], strides[i - 1] = sizes[i], strides[i] end
      return moved(self, offset, n - 1, sizes, strides)
   end
   function methods:t()
      local n, sizes, strides = layout(self)
      sizes[0], sizes[1], strides[0], strides[1] = sizes[1], sizes[0], strides[1], strides[0]
      return moved(self, 0, n, sizes, strides)
   end
   function methods:isContiguous()
      local expected = 1
      for d = self:dim(), 1, -1 do
         if self:stride(d) ~= expected then return false end
         expected = expected * self:size(d)
      end
      return true
   end
   function methods:contiguous() return self:isContiguous() and self or like(self):resizeAs(self):copy(self) end
   function methods:view(...)
      local n, sizes = th.longs(...)
      local known, open = 1, nil
      for d = 0, n - 1 do
         if sizes[d] == -1 then open = d else known = known * tonumber(sizes[d]) end
      end
      if open then sizes[open] = self:nElement() / known end
      return moved(self, 0, n, sizes, nil)
   end

   class.__gc = function(self) C.th_tensor_free(th.tensor(self)) end
   class.__len = methods.size
   class.__index = function(self, key)
      if type(key) ~= 'number' then
         return methods[key] or class[key]
      elseif self:dim() > 1 then
         return self:select(1, key)
      end
      return tonumber(self:data()[(key - 1) * self:stride(1)])
   end
   class.__newindex = function(self, key, value)
      if self:dim() > 1 then
         local row = self:select(1, key)
         return type(value) == 'number' and row:fill(value) or row:copy(value)
      end
      self:data()[(key - 1) * self:stride(1)] = value
   end
   class.__methods = methods

   torch.enter('torch.' .. name .. 'Tensor', setmetatable({}, {__call = function(_, what, ...)
      local made = th.push(C.th_tensor_new(), class)
      if what == nil then
         return made
      elseif torch.isTensor(what) then
         return made:set(what)
      elseif torch.isStorage(what) and (...) then
         local offset, sizes, strides = ...
         local n, size = th.longs(sizes)
         return place(made, th.storage(what), offset - 1, n, size, select(2, th.longs(strides)))
      elseif type(what) == 'table' then
         made:resize(#what)
         for i, value in ipairs(what) do made[i] = value end
         return made
      end
      return made:resize(what, ...)
   end}))
end

for name, ctype in pairs(th.types) do
   storages(name, ctype)
   tensors(name, ctype)
end
