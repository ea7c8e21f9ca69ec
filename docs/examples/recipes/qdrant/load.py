import pyarrow.parquet
from qdrant_client import QdrantClient, models

file = pyarrow.parquet.ParquetFile("products.parquet")
facts = file.schema_arrow.metadata
width = file.schema_arrow.field("vector").type.list_size

qdrant = QdrantClient(path="qdrant")  # a server: QdrantClient("http://localhost:6333")
qdrant.create_collection(
    "products",
    vectors_config=models.VectorParams(size=width, distance=models.Distance.COSINE),
    metadata={
        "model": facts[b"torana.model"].decode(),
        "space": facts[b"torana.space"].decode(),
    },
)
first = 0
for batch in file.iter_batches(1_000):
    ids = list(range(first, first + batch.num_rows))
    vectors = batch["vector"].flatten().to_numpy().reshape(-1, width)
    payloads = [{"sku": sku} for sku in batch["id"].to_pylist()]
    qdrant.upsert("products", models.Batch(ids=ids, vectors=vectors.tolist(), payloads=payloads))
    first += batch.num_rows
print(first, "products in", facts[b"torana.space"].decode())
