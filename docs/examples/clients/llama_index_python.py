import os

from llama_index.embeddings.openai_like import OpenAILikeEmbedding

embeddings = OpenAILikeEmbedding(
    model_name="demo-embed",
    api_base=os.environ["TORANA_BASE_URL"],
    api_key=os.environ["TORANA_KEY"],
)

vectors = embeddings.get_text_embedding_batch(["cat", "kitten", "car"])
print(len(vectors), "vectors of", len(vectors[0]))
