import os
import sys

from openai import APIStatusError, OpenAI
from qdrant_client import QdrantClient

torana = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])
qdrant = QdrantClient(path="qdrant")  # a server: QdrantClient("http://localhost:6333")
stored = qdrant.get_collection("documents").config.metadata

try:
    answer = torana.embeddings.create(
        model=stored["model"],
        input=sys.argv[1],
        extra_headers={"x-torana-space": stored["space"]},
    )
except APIStatusError as error:
    if error.status_code != 412:
        raise
    sys.exit(f"The index must be made again: {error.message}")

found = qdrant.query_points("documents", query=answer.data[0].embedding, limit=2)
for point in found.points:
    print(f"{point.score:.3f} {point.payload['text']}")
