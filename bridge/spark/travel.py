"""Sending a model's file to the workers by Spark's `addFile`, under a name that is made from its content.

Spark never replaces a file that it has sent, and distinguishes files only by their names. With such names, a changed
file is a new file, and the same content is sent once. On a worker the files get their own names in one directory.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkContext, SparkFiles
from pyspark.sql import SparkSession

from bridge import t7
from bridge.batch import BatchModel

File = str | os.PathLike[str]


@dataclass(frozen=True)
class Parcel:
    """Files that are sent together, and the digest of their content. A call on a worker returns the first path."""

    digest: str
    names: tuple[str, ...]

    def __call__(self) -> str:
        """Link the files by their own names in a directory of the executor; several workers may do so at once."""
        place = Path(SparkFiles.getRootDirectory(), f"moontide-{self.digest}").absolute()
        place.mkdir(exist_ok=True)
        for number, name in enumerate(self.names):
            if not Path(SparkFiles.get(self.sent(number))).is_file():
                raise FileNotFoundError(
                    f"{name} was sent by another session: make the function anew in this one"
                )
            with suppress(FileExistsError):
                (place / name).symlink_to(SparkFiles.get(self.sent(number)))
        return str(place / self.names[0])

    def sent(self, number: int) -> str:
        """Return the name under which Spark sends a file."""
        return f"moontide-{self.digest}-{number}"


def batch_model(
    model: File,
    *,
    function: str | None = None,
    key: str | None = None,
    files: Sequence[File] = (),
    session: SparkSession | None = None,
) -> BatchModel:
    """Send a model to the workers. Returns the function that calls it there, for `mapInPandas`, RDDs and the like.

    Parameters
    ----------
    model : path
        A .t7, .lua, .pt2 or .onnx file on the driver.
    function, key : str, optional
        The function or method, and the network's place in the file's tables; see `bridge.models.load`.
    files : sequence of path
        Files that the model opens or requires; on the workers they are in its directory, under their own names.
    session : SparkSession, optional
        By default the active one.

    Raises
    ------
    FileNotFoundError
        One of the files is missing.
    ValueError
        Two files have the same name.
    T7Error
        The .t7 file is damaged.
    RuntimeError
        There is no session, or it is one of Spark Connect, which has no `addFile`.
    """
    return BatchModel(os.fspath(model), function, key, send(context(session), [model, *files]))


def send(spark: SparkContext, files: Sequence[File]) -> Parcel:
    """Add the files to the context, unless it has the same content already."""
    paths = [Path(file) for file in files]
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path} (looked from {Path.cwd()})")
        if path.suffix == ".t7":
            t7.inspect(path)  # raises an error for a damaged file here, before any task
    names = tuple(path.name for path in paths)
    if len(set(names)) < len(names):
        raise ValueError(f"files that lie beside each other need different names, got {', '.join(names)}")
    # The copy that is sent is hashed, because the file may change meanwhile. It is in the driver's part of Spark's own
    # directory, which Spark removes when the session stops, however Python ends.
    staging = Path(tempfile.mkdtemp(prefix="moontide-", dir=SparkFiles.getRootDirectory()))
    digest = hashlib.sha256()
    for number, path in enumerate(paths):
        shutil.copyfile(path, staging / str(number))
        with (staging / str(number)).open("rb") as copied:
            digest.update(f"{path.name}\0".encode() + hashlib.file_digest(copied, "sha256").digest())
    parcel = Parcel(digest.hexdigest()[:32], names)
    there = {Path(file).name for file in spark.listFiles}
    if parcel.sent(0) in there:
        shutil.rmtree(staging)
        return parcel
    for number in range(len(paths)):
        sent = staging / parcel.sent(number)
        (staging / str(number)).rename(sent)
        spark.addFile(str(sent))
    return parcel


def context(session: SparkSession | None) -> SparkContext:
    """Return the context of a session, or of the active one."""
    active: Any = session or SparkSession.active()
    if not isinstance(active, SparkSession):
        raise RuntimeError("a session of Spark Connect cannot send files by addFile: use a classic session")
    return active.sparkContext
