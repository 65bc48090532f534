"""Models inside Spark: digits in Parquet, texts by their characters; `session` is what both begin with."""
