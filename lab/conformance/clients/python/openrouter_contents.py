"""The SDK of OpenRouter, at another address than its own."""

import json

import openrouter
from contents import answer_contents


def embed(case):
    client = openrouter.OpenRouter(api_key=case["apiKey"], server_url=case["baseUrl"])
    answer = client.embeddings.generate(model=case["model"], **case["fields"])
    return [item.embedding for item in answer.data], answer.usage.prompt_tokens


def describe(error):
    described = {"class": type(error).__name__, "message": str(error)}
    if hasattr(error, "raw_response"):
        headers = error.raw_response.headers
        described |= {"status": error.status_code, "requestId": headers.get("x-request-id")}
        described["code"] = json.loads(error.body)["error"]["code"]
    return described


answer_contents(embed, describe)
