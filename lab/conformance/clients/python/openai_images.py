"""openai-python's `images.generate` and `images.edit`."""

import openai
from given_files import given, reference_to
from openai.types import (
    ImageEditCompletedEvent,
    ImageEditPartialImageEvent,
    ImageGenCompletedEvent,
    ImageGenPartialImageEvent,
    ImagesResponse,
)
from pictures import saved
from protocol import answer_cases, retry_settings

NAMES = {
    "n": "n",
    "size": "size",
    "responseFormat": "response_format",
    "outputFormat": "output_format",
    "partialImages": "partial_images",
    "stream": "stream",
}


def ask(case, _work):
    client = openai.OpenAI(base_url=case["baseUrl"], api_key=case["apiKey"], **retry_settings(case))
    options = {name: case[key] for key, name in NAMES.items() if key in case}
    options |= {"model": case["model"], "prompt": case["prompt"]}
    headers = {"Idempotency-Key": case["idempotencyKey"]} if "idempotencyKey" in case else {}
    if "edit" not in case:
        answer = client.images.generate(**options, extra_headers=headers)
    elif case["edit"].get("json"):
        answer = posted(client, options, headers, case["edit"])
    else:
        answer = edited(client, options, headers, case["edit"])
    if case.get("stream"):
        events = list(answer)
        is_edit = "edit" in case
        pictures = of_type(events, ImageEditCompletedEvent if is_edit else ImageGenCompletedEvent)
        previews = of_type(events, ImageEditPartialImageEvent if is_edit else ImageGenPartialImageEvent)
        previews.sort(key=lambda event: event.partial_image_index)
    else:
        if not isinstance(answer, ImagesResponse):
            raise TypeError(f"an answer of the type {type(answer)}")
        pictures, previews = answer.data, []
    return {"pictures": saved(pictures, case, "picture"), "previews": saved(previews, case, "preview")}


def edited(client, options, headers, edit):
    files = [given(file, edit["giveAs"]) for file in edit["images"]]
    if "mask" in edit:
        options["mask"] = given(edit["mask"], edit["giveAs"])
    # One picture is not wrapped by most users.
    return client.images.edit(image=files[0] if len(files) == 1 else files, **options, extra_headers=headers)


def posted(client, options, headers, edit):
    body = options | {"images": [reference_to(file) for file in edit["images"]]}
    if "mask" in edit:
        body["mask"] = reference_to(edit["mask"])
    return client.post("/images/edits", cast_to=ImagesResponse, body=body, options={"headers": headers})


def of_type(events, event_type):
    return [event for event in events if isinstance(event, event_type)]


answer_cases(ask)
