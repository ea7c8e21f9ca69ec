"""What every client program does: read {cases, …} from standard input, answer each case with one JSON line."""

import json
import sys

import openai


def describe_openai(error):
    """What a user of openai-python can read off an error."""
    described = {"class": type(error).__name__, "message": str(error)}
    if isinstance(error, openai.APIStatusError):
        described |= {
            "status": error.status_code,
            "code": error.code,
            "requestId": error.request_id,
            "retryAfter": error.response.headers.get("retry-after"),
            "shouldRetry": error.response.headers.get("x-should-retry"),
        }
    return described


def answer_cases(answer, describe=describe_openai):
    """`answer` asks the library under test: it returns what the line shall say, or raises what the library raises."""
    work = json.load(sys.stdin)
    for case in work["cases"]:
        try:
            line = {"case": case["name"], "ok": True, **answer(case, work)}
        except Exception as error:  # whatever it is, the user of the library would see it
            line = {"case": case["name"], "ok": False, "error": describe(error)}
        print(json.dumps(line), flush=True)


def retry_settings(case):
    return {} if case.get("retries") else {"max_retries": 0}
