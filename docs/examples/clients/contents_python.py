import base64
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])


def image(file):
    with open(file, "rb") as opened:
        data = base64.b64encode(opened.read()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


answer = client.embeddings.create(
    model="gemini-embedding-2",
    input=[
        "a bird",
        {"content": [image("docs/pictures/gull.png")]},
        {"content": [{"type": "text", "text": "a gull in flight"}, image("docs/pictures/gull.png")]},
    ],
)
bird, alone, described = [item.embedding for item in answer.data]
for name, vector in [("image", alone), ("image and text", described)]:
    print(f"{sum(a * b for a, b in zip(bird, vector)):.3f}", name)
