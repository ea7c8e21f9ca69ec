import atexit
import json
import os
import sys

import pyarrow.parquet
from openai import OpenAI
from qdrant_client import QdrantClient, models

ALIAS = "documents"  # what the application searches
QUERIES = ["young pets", "car maintenance", "vegetables", "flowers", "old birds"]

torana = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])
qdrant = QdrantClient(path="qdrant")  # a server: QdrantClient("http://localhost:6333")
atexit.register(qdrant.close)


def create(collection, model, dimensions=None):
    request = {"model": model} | ({"dimensions": int(dimensions)} if dimensions else {})
    answer = torana.embeddings.with_raw_response.create(**request, input="What is the width?")
    space, vector = answer.headers["x-torana-space"], answer.parse().data[0].embedding
    qdrant.create_collection(
        collection,
        vectors_config=models.VectorParams(size=len(vector), distance=models.Distance.COSINE),
        metadata={"request": request, "space": space},
    )
    print(collection, "is in", space)


def embed(collection, text):
    stored = qdrant.get_collection(collection).config.metadata
    pin = {"x-torana-space": stored["space"]}
    answer = torana.embeddings.create(**stored["request"], input=text, extra_headers=pin)
    return answer.data[0].embedding


def write(number, text):
    """Dual write: into the old index and the new one, each in its space."""
    for collection in [one.name for one in qdrant.get_collections().collections]:
        point = models.PointStruct(
            id=int(number), vector=embed(collection, text), payload={"text": text}
        )
        qdrant.upsert(collection, [point])


def load(collection, file):
    table = pyarrow.parquet.read_table(file)
    made_in = table.schema.metadata[b"torana.space"].decode()
    if made_in != qdrant.get_collection(collection).config.metadata["space"]:
        sys.exit(f"{file} is in {made_in}: another space")
    with open("corpus.jsonl") as corpus:
        texts = {row["id"]: row["text"] for row in map(json.loads, corpus)}
    rows = {int(row["id"]): row["vector"] for row in table.to_pylist()}
    # A document that dual write has written since is newer than the corpus.
    newer = {point.id for point in qdrant.retrieve(collection, list(rows))}
    points = [
        models.PointStruct(id=number, vector=vector, payload={"text": texts[number]})
        for number, vector in rows.items()
        if number not in newer
    ]
    qdrant.upsert(collection, points)
    print(len(points), "loaded,", len(newer), "newer")


def top(text, collection):
    found = qdrant.query_points(collection, query=embed(collection, text), limit=3)
    return {point.payload["text"]: point.score for point in found.points}


def search(text):
    for found, score in top(text, ALIAS).items():
        print(f"{score:.3f} {found}")


def compare(collection):
    same = 0
    for query in QUERIES:
        old, new = top(query, ALIAS), top(query, collection)
        same += len(old.keys() & new.keys())
        for text in new.keys() - old.keys():
            print(f"only in {collection}: {query} -> {text}")
    print(f"{same} of {3 * len(QUERIES)} results are the same")


def switch(collection):
    """Both changes of the alias take effect at once."""
    new = models.CreateAlias(collection_name=collection, alias_name=ALIAS)
    changes = [models.CreateAliasOperation(create_alias=new)]
    if qdrant.get_aliases().aliases:
        old = models.DeleteAlias(alias_name=ALIAS)
        changes.insert(0, models.DeleteAliasOperation(delete_alias=old))
    qdrant.update_collection_aliases(changes)
    print(ALIAS, "is now", collection)


def delete(collection):
    qdrant.delete_collection(collection)


commands = [create, write, load, search, compare, switch, delete]
name, *arguments = sys.argv[1:]
{command.__name__: command for command in commands}[name](*arguments)
