"""openai-python."""

import openai
from protocol import retry_settings
from vectors import answer_vectors


def embed(case, texts):
    client = openai.OpenAI(base_url=case["baseUrl"], api_key=case["apiKey"], **retry_settings(case))
    options = {"dimensions": case["dimensions"]} if "dimensions" in case else {}
    answer = client.embeddings.create(model=case["model"], input=texts[0] if case.get("single") else texts, **options)
    return [item.embedding for item in answer.data], answer.usage.prompt_tokens


answer_vectors(embed)
