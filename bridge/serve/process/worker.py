"""A model's process: loads it, then calls it as it is told, until nobody is there to tell.

Its memory is limited before the model is loaded. A thread ends the process when its maker is gone, also in the middle
of a call: Lua runs without the GIL.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket
import sys
import threading
from pathlib import Path

import bridge
from bridge import models
from bridge.importing import import_torch
from bridge.serve.process.area import Area
from bridge.serve.process.channel import Channel, Closed
from bridge.serve.process.faults import described
from bridge.serve.process.running import Description, Wanted
from bridge.serve.process.values import packed, unpacked


def main() -> None:
    """Work on the descriptors that the arguments name, for the process that the last one names."""
    connection, given, made, maker = map(int, sys.argv[1:5])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its maker decides when it ends
    threading.Thread(target=_end_with_maker, args=(maker,), daemon=True).start()
    channel = Channel(socket.socket(fileno=connection))
    try:
        serve(channel, Area(given), Area(made))
    except Closed:
        return


def serve(channel: Channel, given: Area, made: Area) -> None:
    """Load what the first message names and describe it, then answer one message after the other."""
    wanted = Wanted(**channel.receive())
    if wanted.threads is not None:
        # torch reads it when it is imported, if it is at all: that takes more than a second
        os.environ["OMP_NUM_THREADS"] = str(wanted.threads)
    if wanted.memory is not None:
        import_torch()  # what it takes is not the model's
        limit_memory(wanted.memory)
    with bridge.Lua(allow_functions=wanted.allow_functions) as lua:
        try:
            model = loaded(lua, wanted)
        except Exception as error:
            channel.send({"error": described(error)})
            return
        if model.platform == "torch7" and wanted.threads is not None:
            import_torch()  # now, rather than in the first call
        gc.collect()
        gc.freeze()  # what is loaded now stays: to look through all of it again would cost some call 100 ms
        channel.send({"result": Description.of(model)})
        while True:
            asked = channel.receive(watch=wanted.watch)
            made.clear()
            try:
                function = model.chosen(asked["function"])
                arguments = (unpacked(one, given, copy=False) for one in asked["arguments"])
                answer = {"result": packed(function(*arguments), made)}
            except Exception as error:
                answer = {"error": described(error)}
            channel.send(answer)


def loaded(lua: bridge.Lua, wanted: Wanted) -> models.Model:
    """Load the model that is wanted."""
    return models.load(
        lua,
        wanted.file,
        function=wanted.function,
        key=wanted.key,
        network=wanted.network,
        device=wanted.device,
    )


def limit_memory(nbytes: int) -> None:
    """Let this process have so many bytes more than it has now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmData:"):
            most = (int(line.split()[1]) << 10) + nbytes
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _end_with_maker(maker: int) -> None:
    """Wait for the maker's end. A pipe would stay open in children that the maker has forked."""
    try:
        ended = os.pidfd_open(maker)
    except ProcessLookupError:
        os._exit(0)
    if os.getppid() == maker:  # else the number is another process's by now
        select.select([ended], [], [])
    os._exit(0)


if __name__ == "__main__":
    main()
