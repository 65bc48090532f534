"""The peer: what people write by hand, a FastAPI endpoint that calls the model, converted to PyTorch."""

from __future__ import annotations

import socket
import sys

import torch
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

import bridge

with bridge.Lua() as lua:
    lua.require("nn")
    model = bridge.to_torch(lua.execute("return torch.load(...)", sys.argv[1])).eval()


class Rows(BaseModel):
    """A request."""

    inputs: list[list[float]]


app = FastAPI()


@app.post("/predict")
async def predict(rows: Rows) -> dict[str, list[list[float]]]:
    """Compute all rows of a request."""
    with torch.no_grad():
        return {"outputs": model(torch.tensor(rows.inputs)).tolist()}


if __name__ == "__main__":
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen(2048)
        print(f"http://127.0.0.1:{sock.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([sock])
