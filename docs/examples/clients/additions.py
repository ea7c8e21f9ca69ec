import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])

raw = client.embeddings.with_raw_response.create(
    model="demo-embed",
    input="What is the capital of France?",
    extra_body={"input_type": "query"},
    extra_headers={"x-torana-unsupported": "drop"},
)
print(len(raw.parse().data[0].embedding))
print("space   ", raw.headers.get("x-torana-space"))
print("emulated", raw.headers.get("x-torana-emulated"))
print("dropped ", raw.headers.get("x-torana-dropped"))
