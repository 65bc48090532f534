"""Dense models whose parameters are at a parameter server."""
