"""
The SDK of Voyage. With `direct` it asks the fake provider, and shows that it speaks Voyage's language; without, the body that
it would send to /multimodalembeddings is posted to Torana's /v1/embeddings.
"""

import sys

import voyageai
from contents import answer_contents
from recorded import Recorder, Refused, describe_refused, post


def ask(case, url):
    client = voyageai.Client(api_key=case["apiKey"], base_url=url, max_retries=0)
    return client.multimodal_embed(
        inputs=case["fields"]["inputs"], model=case["model"], output_dimension=case.get("width")
    )


def embed_direct(case):
    answer = ask(case, case["baseUrl"])
    return answer.embeddings, answer.total_tokens


def embed_recorded(case):
    """
    The SDK always sends `truncation`. Torana never cuts a content short, so it refuses the field by name, unless the caller
    allows it to be left out.
    """
    body = recorder.body_of(lambda url: ask(case, url))
    try:
        post(case, body)
    except Refused as error:
        if (error.described["code"], error.described["param"]) != ("unsupported_parameter", "truncation"):
            raise
    else:
        raise AssertionError("'truncation' was ignored")
    return post(case, body, {"x-torana-unsupported": "drop"})


if "direct" in sys.argv:
    answer_contents(embed_direct)
else:
    recorder = Recorder()
    answer_contents(embed_recorded, describe_refused)
