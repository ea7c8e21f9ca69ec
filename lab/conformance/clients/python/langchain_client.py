"""LangChain for Python with its defaults: token arrays in cl100k_base, at most 1,000 texts and 300,000 tokens a call."""

from langchain_openai import OpenAIEmbeddings
from protocol import retry_settings
from vectors import answer_vectors


def embed(case, texts):
    options = {"dimensions": case["dimensions"]} if "dimensions" in case else {}
    embeddings = OpenAIEmbeddings(
        model=case["model"],
        base_url=case["baseUrl"],
        api_key=case["apiKey"],
        **options,
        **retry_settings(case),
    )
    if case.get("single"):
        return [embeddings.embed_query(texts[0])], None
    return embeddings.embed_documents(texts), None


answer_vectors(embed)
