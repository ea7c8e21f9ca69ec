"""The SDK of Voyage, at the fake provider: it shows that the fake provider speaks Voyage's language."""

import voyageai
from contents import answer_contents


def embed(case):
    client = voyageai.Client(api_key=case["apiKey"], base_url=case["baseUrl"], max_retries=0)
    answer = client.multimodal_embed(inputs=case["fields"]["inputs"], model=case["model"])
    return answer.embeddings, answer.total_tokens


answer_contents(embed)
