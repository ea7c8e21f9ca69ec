import base64
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])

answer = client.images.generate(
    model="demo-image",
    prompt="a lighthouse in the fog",
    size="512x512",
)
with open("lighthouse.png", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))
print("lighthouse.png")
