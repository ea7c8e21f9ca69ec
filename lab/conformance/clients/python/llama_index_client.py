"""LlamaIndex: 100 texts a call, spaces for newlines. The argument names the class: `OpenAIEmbedding` or `OpenAILikeEmbedding`."""

import sys

from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from protocol import retry_settings
from vectors import answer_vectors

CLASSES = {"OpenAIEmbedding": OpenAIEmbedding, "OpenAILikeEmbedding": OpenAILikeEmbedding}


def embed(case, texts):
    options = {"dimensions": case["dimensions"]} if "dimensions" in case else {}
    embeddings = CLASSES[sys.argv[1]](
        # `model` would have to be one of OpenAI's own.
        model_name=case["model"],
        api_base=case["baseUrl"],
        api_key=case["apiKey"],
        **options,
        **retry_settings(case),
    )
    if case.get("single"):
        return [embeddings.get_query_embedding(texts[0])], None
    return embeddings.get_text_embedding_batch(texts), None


answer_vectors(embed)
