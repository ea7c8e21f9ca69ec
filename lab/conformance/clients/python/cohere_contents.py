"""The SDK of Cohere, at the fake provider: it shows that the fake provider speaks Cohere's language."""

import cohere
from contents import answer_contents


def embed(case):
    client = cohere.ClientV2(api_key=case["apiKey"], base_url=case["baseUrl"])
    answer = client.embed(
        model=case["model"], input_type="search_document", embedding_types=["float"], inputs=case["fields"]["inputs"]
    )
    return answer.embeddings.float_, None


answer_contents(embed)
