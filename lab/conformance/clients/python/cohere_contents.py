"""
The SDK of Cohere. With `direct` it asks the fake provider, and shows that it speaks Cohere's language; without, the body that
it would send to /v2/embed is posted to Torana's /v1/embeddings.
"""

import sys

import cohere
from contents import answer_contents
from recorded import Recorder, describe_refused, post


def ask(case, url):
    client = cohere.ClientV2(api_key=case["apiKey"], base_url=url)
    return client.embed(
        model=case["model"],
        input_type="search_document",
        embedding_types=["float"],
        output_dimension=case.get("width"),
        inputs=case["fields"]["inputs"],
    )


def embed_direct(case):
    return ask(case, case["baseUrl"]).embeddings.float_, None


def embed_recorded(case):
    return post(case, recorder.body_of(lambda url: ask(case, url)))


if "direct" in sys.argv:
    answer_contents(embed_direct)
else:
    recorder = Recorder()
    answer_contents(embed_recorded, describe_refused)
