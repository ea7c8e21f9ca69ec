"""Sums of exported files, read by DuckDB alone: cold.py <folder> prints one JSON line per project and model."""

import json
import sys

import duckdb

SUMS = """
  SELECT project, model, count(*) AS entries, count(*) FILTER (WHERE kind = 'post') AS posts,
    coalesce(sum(tokens), 0) AS tokens, coalesce(sum(images), 0) AS images, coalesce(sum(amount_nano), 0) AS amount_nano,
    count(*) FILTER (WHERE amount_nano IS NULL) AS unpriced, coalesce(sum(requests), 0) AS requests,
    coalesce(sum(hits), 0) AS hits, coalesce(sum(saved_nano), 0) AS saved_nano,
    coalesce(sum(unknown_nano), 0) AS unknown_nano
  FROM read_parquet(?) GROUP BY project, model ORDER BY project, model
"""

connection = duckdb.connect()
result = connection.execute(SUMS, [f"{sys.argv[1]}/*.parquet"])
names = [column[0] for column in result.description]
for row in result.fetchall():
    print(json.dumps({name: str(value) for name, value in zip(names, row)}))
