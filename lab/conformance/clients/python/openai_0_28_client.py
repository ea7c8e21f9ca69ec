"""openai-python 0.28: `openai.Embedding.create`, which asks for base64."""

import openai
from openai_0_28 import describe_0_28, endpoint
from vectors import answer_vectors


def embed(case, texts):
    options = {"dimensions": case["dimensions"]} if "dimensions" in case else {}
    answer = openai.Embedding.create(
        model=case["model"], input=texts[0] if case.get("single") else texts, **options, **endpoint(case)
    )
    return [item.embedding for item in answer.data], answer.usage.prompt_tokens


answer_vectors(embed, describe_0_28)
