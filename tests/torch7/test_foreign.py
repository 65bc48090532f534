"""TH's C functions by FFI: storages handed on by their address, as programs' loading threads do."""

from __future__ import annotations

import bridge

HAND_OVER = """
   local ffi = require 'ffi'
   ffi.cdef 'void THFloatStorage_free(THFloatStorage *); void THFloatStorage_retain(THFloatStorage *);'
   function send(tensor)
      local address, size = torch.pointer(tensor:storage()), tensor:size()
      tensor:cdata().storage = nil
      return {address, size}
   end
   function receive(parcel, into)
      into:resize(parcel[2])
      ffi.C['THFloatStorage_free'](ffi.cast('THFloatStorage*', torch.pointer(into:storage())))
      into:cdata().storage = ffi.cast('THFloatStorage*', parcel[1])
      return into
   end
"""


def test_a_storage_moves_from_thread_to_thread_by_its_address(lua: bridge.Lua) -> None:
    lua.execute(
        """
        local code = ...
        local Threads = require 'threads'
        loadstring(code)()
        local pool = Threads(2, function() require 'torch' loadstring(code)() end)
        local into, sum = torch.FloatTensor(), 0
        for i = 1, 50 do
           pool:addjob(function() return send(torch.FloatTensor(100, 10):fill(i)) end,
              function(parcel) sum = sum + receive(parcel, into):mean() end)
        end
        pool:synchronize()
        pool:terminate()
        assert(sum == 25 * 51, sum)
        """,
        HAND_OVER,
    )


def test_what_was_handed_over_is_given_back_once(lua: bridge.Lua) -> None:
    lua.execute(HAND_OVER)
    lua.execute(
        "heap = require('bridge.native').heap collectgarbage() collectgarbage() before = tonumber(heap.held)"
    )
    lua.execute(
        "local into = torch.FloatTensor(2^18) for i = 1, 9 do receive(send(torch.FloatTensor(2^18)), into) end"
    )
    lua.execute("collectgarbage() collectgarbage()")
    assert lua.eval("tonumber(heap.held) - before") == 0


def test_a_storage_that_is_retained_outlives_its_tensor(lua: bridge.Lua) -> None:
    lua.execute(HAND_OVER)
    lua.execute(
        """
        local ffi = require 'ffi'
        local kept = torch.FloatTensor(1000):fill(7)
        local pointer = ffi.cast('THFloatStorage*', torch.pointer(kept:storage()))
        ffi.C.THFloatStorage_retain(pointer)
        kept = nil
        collectgarbage() collectgarbage()
        assert(pointer.data[999] == 7 and pointer.refcount == 1)
        ffi.C.THFloatStorage_free(pointer)
        """
    )


def test_other_names_of_the_process_are_found_as_before(lua: bridge.Lua) -> None:
    lua.execute("local ffi = require 'ffi' ffi.cdef 'int getpid(void);' assert(ffi.C.getpid() > 1)")
    assert "missing declaration for symbol" in lua.eval(
        "select(2, pcall(function() return require('ffi').C.no_such_name end))"
    )
