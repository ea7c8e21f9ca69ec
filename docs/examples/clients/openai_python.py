import math
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])

answer = client.embeddings.create(model="demo-embed", input=["cat", "kitten", "car"])
cat, kitten, car = (item.embedding for item in answer.data)


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)


print("width", len(cat), "tokens", answer.usage.prompt_tokens)
print("cat and kitten", round(cosine(cat, kitten), 3))
print("cat and car   ", round(cosine(cat, car), 3))
