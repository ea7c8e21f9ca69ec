import os
import chdb

query = """
    SELECT toDate(extract(_path, 'day=([0-9-]+)')) AS day, project, count() AS entries, sum(amount_nano) AS nano
    FROM {source} GROUP BY day, project ORDER BY day, project
"""
files = os.environ["LAKE"] + "/day=*/*.parquet"
if files.startswith("http"):
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    source = f"s3('{files}', '{key}', '{secret}', 'Parquet')"
else:
    source = f"file('{files}', 'Parquet')"
for line in str(chdb.query(query.format(source=source), "TSV")).splitlines():
    print(*line.split("\t"))
