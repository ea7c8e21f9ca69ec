"""openai-python: its users write contents in `input`, or in fields of their own."""

from functools import cache

import openai
from contents import answer_contents

# One for all cases: to make one takes longer than a request.
client_at = cache(lambda url, key: openai.OpenAI(base_url=url, api_key=key, max_retries=0))


def embed(case):
    fields = dict(case["fields"])
    given = fields.pop("input", openai.NOT_GIVEN)
    answer = client_at(case["baseUrl"], case["apiKey"]).embeddings.create(model=case["model"], input=given, extra_body=fields)
    return [item.embedding for item in answer.data], answer.usage.prompt_tokens


answer_contents(embed)
