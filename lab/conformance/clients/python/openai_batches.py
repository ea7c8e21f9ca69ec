"""openai-python's files, uploads, batches and webhooks."""

import hashlib
import time

import openai
from protocol import answer_cases

ENDED = {"completed", "failed", "expired", "cancelled"}
LOOK_S = 0.2


def run(client, case):
    return results(client, created(client, uploaded(client, case), case))


def cancel(client, case):
    batch = created(client, uploaded(client, case), case)
    status = client.batches.cancel(batch.id).status
    return {**results(client, batch), "afterCancel": status}


def pages(client, case):
    file_id = uploaded(client, case)
    made = [created(client, file_id, case).id for _ in range(5)]
    return {"made": made, "listed": [batch.id for batch in client.batches.list(limit=2)]}


def parts(client, case):
    data = case["lines"].encode()
    upload = client.uploads.create(
        filename="lines.jsonl", purpose="batch", bytes=len(data), mime_type="application/jsonl"
    )
    half = (len(data) + 1) // 2
    ids = [client.uploads.parts.create(upload.id, data=piece).id for piece in (data[:half], data[half:])]
    done = client.uploads.complete(upload.id, part_ids=ids, md5=hashlib.md5(data).hexdigest())
    return results(client, created(client, done.file.id, case))


def files(client, case):
    file_id = uploaded(client, case)
    file = client.files.retrieve(file_id)
    content = client.files.content(file_id).text
    listed = [one.id for one in client.files.list(limit=2)]
    deleted = "true" if client.files.delete(file_id).deleted else "false"
    report = f"{file.filename} {file.purpose} {file.status} {deleted}"
    return {"made": [file_id], "listed": listed, "content": content, "report": report}


def missing(client, case):
    return {"report": client.batches.retrieve("batch_missing").status}


def unwrap(client, case):
    event = client.webhooks.unwrap(case["body"], case["headers"], secret=case["secret"])
    return {"report": f"{event.type} {event.data.id}"}


def uploaded(client, case):
    return client.files.create(file=("lines.jsonl", case["lines"].encode()), purpose="batch").id


def created(client, file_id, case):
    return client.batches.create(input_file_id=file_id, endpoint=case["endpoint"], completion_window="24h")


def results(client, batch):
    batch = client.batches.retrieve(batch.id)
    while batch.status not in ENDED:
        time.sleep(LOOK_S)
        batch = client.batches.retrieve(batch.id)
    counts = batch.request_counts
    errors = batch.errors.data if batch.errors else []

    def text_of(file_id):
        return client.files.content(file_id).text if file_id else ""

    return {
        "status": batch.status,
        "counts": [counts.total, counts.completed, counts.failed],
        "errors": [f"{error.code} {error.line}" for error in errors],
        "output": text_of(batch.output_file_id),
        "refused": text_of(batch.error_file_id),
    }


WORKS = {work.__name__: work for work in (run, cancel, pages, parts, files, missing, unwrap)}


def answer(case, _work):
    client = openai.OpenAI(base_url=case["baseUrl"], api_key=case["apiKey"], max_retries=0)
    return WORKS[case["work"]](client, case)


answer_cases(answer)
