import json
import os
import pathlib
import sys

from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.schema import TextNode
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from openai import APIStatusError, OpenAI

base_url, key = os.environ["TORANA_BASE_URL"], os.environ["TORANA_KEY"]
stored = pathlib.Path("space.json")


def embeddings(model, space):
    return OpenAILikeEmbedding(
        model_name=model,
        api_base=base_url,
        api_key=key,
        default_headers={"x-torana-space": space},
    )


if not stored.exists():
    torana = OpenAI(base_url=base_url, api_key=key)
    facts = torana.models.retrieve("demo-embed").model_extra["capabilities"]
    index = {"model": "demo-embed", "space": facts["space"]}
    texts = [
        "A kitten needs four small meals per day.",
        "Replace the brake pads after 50,000 kilometres.",
    ]
    nodes = [TextNode(text=text) for text in texts]
    vectors = VectorStoreIndex(nodes, embed_model=embeddings(**index))
    vectors.storage_context.persist("index")
    stored.write_text(json.dumps(index))

try:
    index = json.loads(stored.read_text())
    storage = StorageContext.from_defaults(persist_dir="index")
    vectors = load_index_from_storage(storage, embed_model=embeddings(**index))
    [found] = vectors.as_retriever(similarity_top_k=1).retrieve(sys.argv[1])
    print(found.text)
except APIStatusError as error:
    sys.exit(f"{error.status_code} {error.code}")
