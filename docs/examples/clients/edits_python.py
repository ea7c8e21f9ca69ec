import base64
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])

with open("docs/pictures/harbour.png", "rb") as image, open("docs/pictures/harbour-mask.png", "rb") as mask:
    answer = client.images.edit(
        model="demo-image",
        prompt="a rowing boat",
        image=image,
        mask=mask,
    )
with open("rowing-boat.png", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))
print("rowing-boat.png")
