"""Models in plain PyTorch whose parameters are at the server; `progress` is what the programs share."""
