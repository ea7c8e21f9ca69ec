import os

from haystack.components.embedders import OpenAITextEmbedder
from haystack.utils import Secret

embedder = OpenAITextEmbedder(
    api_key=Secret.from_env_var("TORANA_KEY"),
    api_base_url=os.environ["TORANA_BASE_URL"],
    model="demo-embed",
)

print("a vector of", len(embedder.run("cat")["embedding"]))
