import math

from openai import OpenAI

client = OpenAI()  # reads OPENAI_BASE_URL and OPENAI_API_KEY

answer = client.embeddings.create(model="demo-embed", input=["cat", "kitten", "car"])
cat, kitten, car = (item.embedding for item in answer.data)


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)


print("width", len(cat), "tokens", answer.usage.prompt_tokens)
print("cat and kitten", round(cosine(cat, kitten), 3))
print("cat and car   ", round(cosine(cat, car), 3))
