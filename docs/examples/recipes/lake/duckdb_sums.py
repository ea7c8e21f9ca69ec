import os
import duckdb

files = os.environ["LAKE"] + "/day=*/*.parquet"
rows = duckdb.execute(
    """
    SELECT day, project, count(*) AS entries, sum(amount_nano) AS nano
    FROM read_parquet(?, hive_partitioning = true)
    GROUP BY day, project ORDER BY day, project
    """,
    [files],
).fetchall()
for day, project, entries, nano in rows:
    print(day, project, entries, nano)
