import json
import os
import pathlib
import sys

from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import OpenAIEmbeddings
from openai import APIStatusError, OpenAI

address = {"base_url": os.environ["TORANA_BASE_URL"], "api_key": os.environ["TORANA_KEY"]}
stored = pathlib.Path("space.json")


def embeddings(model, space):
    return OpenAIEmbeddings(
        model=model,
        check_embedding_ctx_length=False,  # sends texts, not token ids
        default_headers={"x-torana-space": space},
        **address,
    )


if not stored.exists():
    facts = OpenAI(**address).models.retrieve("demo-embed").model_extra["capabilities"]
    index = {"model": "demo-embed", "space": facts["space"]}
    store = InMemoryVectorStore(embeddings(**index))
    store.add_texts(
        [
            "A kitten needs four small meals per day.",
            "Replace the brake pads after 50,000 kilometres.",
        ]
    )
    store.dump("index.json")
    stored.write_text(json.dumps(index))

try:
    index = json.loads(stored.read_text())
    store = InMemoryVectorStore.load("index.json", embeddings(**index))
    [found] = store.similarity_search(sys.argv[1], k=1)
    print(found.page_content)
except APIStatusError as error:
    sys.exit(f"{error.status_code} {error.code}")
