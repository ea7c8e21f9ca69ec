"""openai-python: its users write contents in `input`, or in fields of their own."""

import openai
from contents import answer_contents
from protocol import retry_settings


def embed(case):
    client = openai.OpenAI(base_url=case["baseUrl"], api_key=case["apiKey"], **retry_settings(case))
    fields = dict(case["fields"])
    given = fields.pop("input", openai.NOT_GIVEN)
    answer = client.embeddings.create(model=case["model"], input=given, extra_body=fields)
    return [item.embedding for item in answer.data], answer.usage.prompt_tokens


answer_contents(embed)
