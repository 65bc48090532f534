"""State dicts of a `Distributed`, which are those of its module, without a prefix."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from pyps.nn.dense.flat import FlatParameters


def add_hooks(
    model: nn.Module, flat: FlatParameters, pull: Callable[[], None], give: Callable[[], None]
) -> None:
    """Let state dicts of a model be those of its module.

    Parameters
    ----------
    model : torch.nn.Module
        Its only submodule is ``module``.
    flat : FlatParameters
    pull, give : callable
        Methods of the model, to be called before a state is taken, and after one was loaded.
    """

    def check(
        _: object, state: dict[str, Any], prefix: str, metadata: dict[str, Any], strict: bool, *__: object
    ) -> None:
        if metadata.get("assign_to_params_buffers"):
            raise ValueError(
                "with assign=True the parameters would lie elsewhere than pulls write to: leave it out"
            )
        for name, tensor in zip(flat.names, flat.tensors, strict=True):
            given = state.get(prefix + name)
            if given is None and strict:
                raise RuntimeError(
                    f"the state has no {prefix + name!r}; with strict=False it need not have all"
                )
            if given is not None and given.shape != tensor.shape:
                raise RuntimeError(
                    f"{prefix + name!r} has the shape {tuple(given.shape)} in the state, and {tuple(tensor.shape)} in "
                    "the model"
                )
        _rename(state, prefix, f"{prefix}module.")

    def name_plainly(_: object, state: dict[str, Any], prefix: str, __: object) -> None:
        _rename(state, f"{prefix}module.", prefix)

    model.register_state_dict_pre_hook(_calling(pull))  # type: ignore[no-untyped-call]
    model.register_state_dict_post_hook(name_plainly)  # type: ignore[no-untyped-call]
    model.register_load_state_dict_pre_hook(check)  # type: ignore[no-untyped-call]
    model.register_load_state_dict_post_hook(_calling(give))  # type: ignore[no-untyped-call]


def _calling(method: Callable[[], None]) -> Callable[..., None]:
    """Return a hook that calls a method of a model, which goes at once when it is dropped."""
    known = weakref.WeakMethod(method)

    def hook(*_: object) -> None:
        if (found := known()) is not None:
            found()

    return hook


def _rename(state: dict[str, torch.Tensor], old: str, new: str) -> None:
    """Let the names of entries begin with another prefix, in the same order."""
    for name in [name for name in state if name.startswith(old)]:
        state[new + name.removeprefix(old)] = state.pop(name)
