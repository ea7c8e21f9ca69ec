import os

from openai import AzureOpenAI

client = AzureOpenAI(
    azure_endpoint=os.environ["AZURE_OPENAI_ENDPOINT"],  # http://127.0.0.1:8080, without /v1
    api_key=os.environ["AZURE_OPENAI_API_KEY"],  # a key of Torana
    api_version="2024-10-21",  # any: Torana does not look at it
)

answer = client.embeddings.create(model="demo-embed", input=["cat", "kitten", "car"])
print(len(answer.data), "vectors of", len(answer.data[0].embedding))
