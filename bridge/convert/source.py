"""Reading a model from a path, a result of `bridge.t7`, or an object in a Lua state. All become TorchObjects.

A model in a Lua state is listed in Lua, each table once, and put together again here. So cycles and shared objects are
kept and no tensor is copied. Keys other than strings and numbers (in nodes of nngraph) are left out.
"""

from __future__ import annotations

import os
from typing import Any

from bridge._boundary import LuaObject
from bridge.t7.networks import network
from bridge.t7.objects import TorchObject

TAKE_APART = """
return function(root)
   local places, entries = {}, {}
   local function entry(value)
      local place = places[value]
      if not place then
         place = #entries + 1
         places[value] = place
         entries[place] = value
      end
      return place
   end
   entry(root)
   local flat, place = {}, 1
   while entries[place] do
      local object = entries[place]
      local one = {keys = {}, values = {}, places = {}, refs = {}}
      one.typename = torch.typename(object) or false
      one.object = one.typename and object or false
      for key, value in pairs(object) do
         local kind = type(value)
         if type(key) == 'string' or type(key) == 'number' then
            if kind == 'table' then
               table.insert(one.places, key)
               table.insert(one.refs, entry(value))
            elseif kind == 'number' or kind == 'string' or kind == 'boolean' or torch.isTensor(value)
                  or torch.isStorage(value) then
               table.insert(one.keys, key)
               table.insert(one.values, value)
            end
         end
      end
      flat[place] = one
      place = place + 1
   end
   return flat
end
"""


class Source:
    """A model as a tree of TorchObjects.

    Attributes
    ----------
    root : TorchObject
        The model.
    lua : dict of int to LuaObject
        id of a TorchObject -> its object in the Lua state; empty for a model from a file.
    """

    def __init__(self, model: Any, key: str | None = None) -> None:
        self.lua: dict[int, LuaObject] = {}
        if isinstance(model, str | os.PathLike):
            from bridge import t7

            model = t7.load(model, tensors="torch")
        model = network(
            getattr(model, "lua_object", model), key
        )  # a module of bridge.legacy has a lua_object
        if isinstance(model, LuaObject):
            model = self._from_lua(model)
        if not isinstance(model, TorchObject):
            raise TypeError(
                f"a Torch7 model is a path, an object of a Lua state or what bridge.t7.load gives, "
                f"got {type(model).__module__}.{type(model).__qualname__}"
            )
        self.root: TorchObject = model

    def _from_lua(self, model: LuaObject) -> Any:
        with model.state.texts():
            take_apart = model.state.helper("execute", TAKE_APART, "=(convert)")
            flat = take_apart(model)
        made: list[Any] = []
        for one in flat:
            name = one["typename"]
            made.append(TorchObject(name) if name else {})
            if name:
                self.lua[id(made[-1])] = one["object"]
        for target, one in zip(made, flat, strict=True):
            fields = target.fields() if isinstance(target, TorchObject) else target
            fields.update(zip(one["keys"], one["values"], strict=True))
            for key, place in zip(one["places"], one["refs"], strict=True):
                fields[key] = made[int(place) - 1]
        lists = {
            place: [table[k] for k in range(1, len(table) + 1)]
            for place, table in enumerate(made)
            if isinstance(table, dict) and set(table) == set(range(1, len(table) + 1))
        }
        _replace(made, lists)
        return made[0]


def _replace(made: list[Any], lists: dict[int, list[Any]]) -> None:
    """Replace dicts by the lists that were made of them."""
    by_id = {id(made[place]): value for place, value in lists.items()}
    for target in made:
        fields = target.fields() if isinstance(target, TorchObject) else target
        for key, value in fields.items():
            if id(value) in by_id:
                fields[key] = by_id[id(value)]
    for value in lists.values():
        value[:] = [by_id.get(id(entry), entry) for entry in value]
