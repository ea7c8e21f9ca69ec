"""openai-python 0.28, the last of the old interface: functions of the module, `api_base`, no retries of its own."""

import json

import openai


def endpoint(case):
    return {"api_base": case["baseUrl"], "api_key": case["apiKey"]}


def describe_0_28(error):
    """What a user of openai-python 0.28 can read off an error."""
    described = {"class": type(error).__name__, "message": str(error)}
    if isinstance(error, openai.error.OpenAIError) and error.http_body:
        # A 503 has words of its own; the gateway's are in the body.
        given = error.error or json.loads(error.http_body)["error"]
        described |= {
            "message": str(error) if error.error else given["message"],
            "status": error.http_status,
            "code": given["code"],
            "requestId": error.headers.get("x-request-id"),
            "retryAfter": error.headers.get("retry-after"),
            "shouldRetry": error.headers.get("x-should-retry"),
        }
    return described
