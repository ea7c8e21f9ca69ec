"""openai-python 0.28: `openai.Image.create` and `openai.Image.create_edit`, which takes one picture."""

import openai
from given_files import given
from openai_0_28 import describe_0_28, endpoint
from pictures import saved
from protocol import answer_cases

NAMES = {"n": "n", "size": "size", "responseFormat": "response_format", "outputFormat": "output_format"}


def ask(case, _work):
    options = {name: case[key] for key, name in NAMES.items() if key in case}
    options |= {"model": case["model"], "prompt": case["prompt"]} | endpoint(case)
    if "edit" in case:
        edit = case["edit"]
        files = {"image": given(edit["images"][0], edit["giveAs"])}
        if "mask" in edit:
            files["mask"] = given(edit["mask"], edit["giveAs"])
        answer = openai.Image.create_edit(**files, **options)
    else:
        answer = openai.Image.create(**options)
    return {"pictures": saved(answer.data, case, "picture"), "previews": []}


answer_cases(ask, describe_0_28)
