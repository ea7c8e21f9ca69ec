from protocol import answer_cases, describe_openai
from vectors import base64_of


def answer_contents(embed, describe=describe_openai):
    """`embed` is the library under test: it returns (vectors, tokens or None)."""

    def answer(case, work):
        vectors, tokens = embed(case)
        line = {"vectors": [base64_of(vector) for vector in vectors]}
        return line if tokens is None else line | {"tokens": tokens}

    answer_cases(answer, describe)
