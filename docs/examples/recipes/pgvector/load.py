import os

import psycopg
import pyarrow.parquet
from pgvector.psycopg import register_vector

file = pyarrow.parquet.ParquetFile("products.parquet")
facts = file.schema_arrow.metadata
width = file.schema_arrow.field("vector").type.list_size

with psycopg.connect(os.environ["DATABASE_URL"]) as db:
    db.execute("CREATE EXTENSION IF NOT EXISTS vector")
    register_vector(db)
    db.execute(f"CREATE TABLE products (sku text PRIMARY KEY, embedding vector({width}))")
    copy = "COPY products (sku, embedding) FROM STDIN WITH (FORMAT BINARY)"
    with db.cursor().copy(copy) as rows:
        rows.set_types(["text", "vector"])
        for batch in file.iter_batches(10_000):
            vectors = batch["vector"].flatten().to_numpy().reshape(-1, width)
            for sku, vector in zip(batch["id"].to_pylist(), vectors):
                rows.write_row([sku, vector])
    db.execute("CREATE INDEX ON products USING hnsw (embedding vector_cosine_ops)")
    db.execute(
        "INSERT INTO indexes VALUES ('products', %s, %s)",
        [facts[b"torana.model"].decode(), facts[b"torana.space"].decode()],
    )
    count = db.execute("SELECT count(*) FROM products").fetchone()[0]
print(count, "products in", facts[b"torana.space"].decode())
