"""openai-python asks for every type in every form. The argument: the cases as JSON."""

import json
import sys

import openai

asked = json.loads(sys.argv[1])
client = openai.OpenAI(base_url=asked["baseUrl"], api_key=asked["apiKey"], max_retries=0)
results = []
for fields in asked["cases"]:
    given = {"encoding_format": fields["encoding_format"]} if "encoding_format" in fields else {}
    try:
        answer = client.embeddings.create(
            model=asked["model"], input=asked["input"], extra_body={"output_dtype": fields["output_dtype"]}, **given
        )
        results.append({"embedding": answer.data[0].embedding})
    except openai.APIStatusError as error:
        results.append({"error": error.code})
print(json.dumps(results))
