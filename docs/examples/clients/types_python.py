import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])

answer = client.embeddings.create(
    model="demo-embed",
    input=["cat", "kitten", "car"],
    extra_body={"output_dtype": "float16"},
)
print("width", len(answer.data[0].embedding))
