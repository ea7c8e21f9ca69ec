import base64
import struct

from protocol import answer_cases, describe_openai


def answer_vectors(embed, describe=describe_openai):
    """`embed` is the library under test: it returns (vectors, tokens or None)."""

    def answer(case, work):
        vectors, tokens = embed(case, work["lists"][case["inputs"]])
        line = {"vectors": [base64_of(vector) for vector in vectors]}
        return line if tokens is None else line | {"tokens": tokens}

    answer_cases(answer, describe)


def base64_of(values):
    """Little-endian float32. A value that is no float32 is rounded, so it shows only if the client changed it."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
