"""openai-python's `images.generate`."""

import base64
import hashlib
import urllib.request

import openai
from protocol import answer_cases, retry_settings

NAMES = {
    "n": "n",
    "size": "size",
    "responseFormat": "response_format",
    "outputFormat": "output_format",
    "partialImages": "partial_images",
}


def generate(case, _work):
    client = openai.OpenAI(base_url=case["baseUrl"], api_key=case["apiKey"], **retry_settings(case))
    options = {name: case[key] for key, name in NAMES.items() if key in case}
    if "idempotencyKey" in case:
        options["extra_headers"] = {"Idempotency-Key": case["idempotencyKey"]}
    if case.get("stream"):
        events = list(client.images.generate(model=case["model"], prompt=case["prompt"], stream=True, **options))
        pictures = [event for event in events if event.type == "image_generation.completed"]
        previews = [event for event in events if event.type == "image_generation.partial_image"]
        previews.sort(key=lambda event: event.partial_image_index)
    else:
        pictures = client.images.generate(model=case["model"], prompt=case["prompt"], **options).data
        previews = []
    return {"pictures": saved(pictures, case, "picture"), "previews": saved(previews, case, "preview")}


def saved(items, case, kind):
    pictures = []
    for index, item in enumerate(items):
        # Links are fetched as a browser would, without a key.
        url = getattr(item, "url", None)
        content = base64.b64decode(item.b64_json) if url is None else urllib.request.urlopen(url).read()
        file = f"{case['saveAs']}-{kind}-{index}"
        with open(file, "wb") as saved_file:
            saved_file.write(content)
        picture = {"file": file, "sha256": hashlib.sha256(content).hexdigest()}
        pictures.append(picture if url is None else picture | {"url": url})
    return pictures


answer_cases(generate)
