"""What every client program does: read {lists, cases} from standard input, answer each case with one JSON line."""

import base64
import json
import struct
import sys

import openai


def answer_cases(embed):
    """`embed` is the library under test: it returns (vectors, tokens or None) or raises what the library raises."""
    work = json.load(sys.stdin)
    for case in work["cases"]:
        try:
            vectors, tokens = embed(case, work["lists"][case["inputs"]])
            line = {"case": case["name"], "ok": True, "vectors": [base64_of(vector) for vector in vectors]}
            if tokens is not None:
                line["tokens"] = tokens
        except Exception as error:  # whatever it is, the user of the library would see it
            line = {"case": case["name"], "ok": False, "error": describe(error)}
        print(json.dumps(line), flush=True)


def base64_of(values):
    """Little-endian float32. A value that is no float32 is rounded, so it shows only if the client changed it."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def describe(error):
    """What a user of openai-python can read off an error."""
    described = {"class": type(error).__name__, "message": str(error)}
    if isinstance(error, openai.APIStatusError):
        described |= {
            "status": error.status_code,
            "code": error.code,
            "requestId": error.request_id,
            "retryAfter": error.response.headers.get("retry-after"),
        }
    return described


def retry_settings(case):
    return {} if case.get("retries") else {"max_retries": 0}
