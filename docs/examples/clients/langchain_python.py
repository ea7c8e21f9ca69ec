import os

from langchain_openai import OpenAIEmbeddings

embeddings = OpenAIEmbeddings(
    model=os.environ.get("EMBEDDING_MODEL", "demo-embed"),
    base_url=os.environ["TORANA_BASE_URL"],
    api_key=os.environ["TORANA_KEY"],
)

vectors = embeddings.embed_documents(["cat", "kitten", "car"])
print(len(vectors), "vectors of", len(vectors[0]))
