"""Checks the hash of each sealed hour of one day from its Parquet files alone."""
import hashlib
import json
import os
import sys
import duckdb

COLUMNS = (
    "request_id attempt kind call_id node_id project key_id model deployment usage tokens images"
    " amount_nano requests hits saved_nano unknown_nano batch_id inputs"
).split()
folder = f"{os.environ['LAKE']}/day={sys.argv[1]}"
manifest = json.load(open(f"{folder}/manifest-0001.json"))["manifest"]
rows = duckdb.execute(
    f"SELECT {', '.join(COLUMNS)} FROM read_parquet(?) ORDER BY request_id, attempt, kind",
    [f"{folder}/part-*.parquet"],
).fetchall()
stretches = {}
for row in rows:
    moment = int(str(row[0]).replace("-", "")[:12], 16)
    line = "\t".join("" if value is None else str(value) for value in row)
    stretches.setdefault(moment // 10_000, []).append(line)
hours = {}
for stretch, lines in sorted(stretches.items()):
    hours.setdefault(stretch // 360, []).append(hashlib.sha256("\n".join(lines).encode()).digest())
found = [hashlib.sha256(b"".join(parts)).hexdigest() for _, parts in sorted(hours.items())]
good = found == [hour["hash"] for hour in manifest["hours"]]
print(f"{sys.argv[1]}: {len(rows)} entries, {len(found)} hours, {'as sealed' if good else 'CHANGED'}")
sys.exit(0 if good else 1)
