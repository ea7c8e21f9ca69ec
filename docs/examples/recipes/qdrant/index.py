import os

from openai import OpenAI
from qdrant_client import QdrantClient, models

documents = [
    "Open the bonnet and check the oil level every month.",
    "A kitten needs four small meals per day.",
    "Water the tomatoes in the morning, never at noon.",
    "Replace the brake pads after 50,000 kilometres.",
    "Puppies sleep up to eighteen hours per day.",
    "Cut the roses back before spring.",
]

torana = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])
qdrant = QdrantClient(path="qdrant")  # a server: QdrantClient("http://localhost:6333")

model, pin = "demo-embed", {}
if qdrant.collection_exists("documents"):
    stored = qdrant.get_collection("documents").config.metadata
    model, pin = stored["model"], {"x-torana-space": stored["space"]}

# The first run learns the space. Every later run pins it.
answer = torana.embeddings.with_raw_response.create(model=model, input=documents, extra_headers=pin)
space = answer.headers["x-torana-space"]
vectors = [item.embedding for item in answer.parse().data]

if not pin:
    qdrant.create_collection(
        "documents",
        vectors_config=models.VectorParams(size=len(vectors[0]), distance=models.Distance.COSINE),
        metadata={"model": model, "space": space},
    )
qdrant.upsert(
    "documents",
    [
        models.PointStruct(id=number, vector=vector, payload={"text": text})
        for number, (text, vector) in enumerate(zip(documents, vectors))
    ],
)
print(len(documents), "documents in", space)
