"""A package, so that its session ends with its last test."""
