import base64

from openai import OpenAI

client = OpenAI()  # reads OPENAI_BASE_URL and OPENAI_API_KEY

answer = client.images.generate(
    model="demo-image",
    prompt="a lighthouse in the fog",
    size="512x512",
)
with open("lighthouse.png", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))
print("lighthouse.png")
