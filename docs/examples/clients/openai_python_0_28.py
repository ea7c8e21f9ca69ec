import base64
import os

import openai

openai.api_base = os.environ["TORANA_BASE_URL"]
openai.api_key = os.environ["TORANA_KEY"]

answer = openai.Embedding.create(model="demo-embed", input=["cat", "kitten", "car"])
print(len(answer.data), "vectors of", len(answer.data[0].embedding))

answer = openai.Image.create(model="demo-image", prompt="a lighthouse in the fog", size="512x512")
with open("lighthouse.png", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))
print("lighthouse.png")
