"""The program of a model's process: it loads the model, then computes calls until the connection is closed.

Its memory is limited before the model is loaded. A thread ends the process when its parent has ended, also during a
call, because Lua runs without the GIL.
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
from bridge.serve.process.area import Area
from bridge.serve.process.channel import Channel, Closed
from bridge.serve.process.faults import described
from bridge.serve.process.running import Description, Wanted
from bridge.serve.process.values import packed, unpacked
from bridge.torch_support import import_torch


def main() -> None:
    """Run with the descriptors in the command line's arguments, for the parent process in the last argument."""
    connection, given, made, maker = map(int, sys.argv[1:5])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this process ends
    threading.Thread(target=_end_with_maker, args=(maker,), daemon=True).start()
    channel = Channel(socket.socket(fileno=connection))
    try:
        serve(channel, Area(given), Area(made))
    except Closed:
        return


def serve(channel: Channel, given: Area, made: Area) -> None:
    """Load the model of the first message and send its description, then answer one message after the other."""
    wanted = Wanted(**channel.receive())
    if wanted.threads is not None:
        # torch reads this variable when it is imported, which may not be necessary and takes more than a second
        os.environ["OMP_NUM_THREADS"] = str(wanted.threads)
    if wanted.memory is not None:
        import_torch()  # before the limit, so that torch's own memory does not count
        limit_memory(wanted.memory)
    with bridge.Lua(allow_functions=wanted.allow_functions) as lua:
        try:
            model = loaded(lua, wanted)
        except Exception as error:
            channel.send({"error": described(error)})
            return
        if model.platform == "torch7" and wanted.threads is not None:
            import_torch()  # now, so that the first call does not have to
        gc.collect()
        gc.freeze()  # the garbage collector no longer visits the loaded objects, which would take 100 ms of some call
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
    """Load the model."""
    return models.load(
        lua,
        wanted.file,
        function=wanted.function,
        key=wanted.key,
        network=wanted.network,
        device=wanted.device,
    )


def limit_memory(nbytes: int) -> None:
    """Limit this process to some bytes more than it has now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmData:"):
            most = (int(line.split()[1]) << 10) + nbytes
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _end_with_maker(maker: int) -> None:
    """Wait until the parent process ends; not by a pipe, which other children of the parent would keep open."""
    try:
        ended = os.pidfd_open(maker)
    except ProcessLookupError:
        os._exit(0)
    if os.getppid() == maker:  # else the id may belong to another process by now
        select.select([ended], [], [])
    os._exit(0)


if __name__ == "__main__":
    main()
