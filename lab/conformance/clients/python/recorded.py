"""What a library sends to its provider's own route, posted byte by byte to /v1/embeddings: Torana has no other route for it."""

import base64
import json
import threading
import urllib.error
import urllib.request
from array import array
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Refused(Exception):
    def __init__(self, status, headers, error):
        super().__init__(error["message"])
        self.described = {
            "class": "Refused",
            "message": error["message"],
            "status": status,
            "code": error["code"],
            "param": error["param"],
            "requestId": headers.get("x-request-id"),
        }


class Recorder:
    """A server at the place of the provider's. It keeps a body, and refuses it: the library must not ask again."""

    def __init__(self):
        recorder = self
        self.body = None

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                recorder.body = self.rfile.read(int(self.headers["content-length"]))
                answer = b'{"message": "recorded", "detail": "recorded"}'
                self.send_response(400)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def body_of(self, ask):
        """`ask` is given the address, and calls the library."""
        self.body = None
        try:
            ask(self.url)
        except Exception:
            if self.body is None:
                raise
        return self.body


def post(case, body, headers=None):
    """Returns (vectors, tokens) of an answer, or raises Refused."""
    request = urllib.request.Request(
        f"{case['baseUrl']}/embeddings",
        data=body,
        headers={"authorization": f"Bearer {case['apiKey']}", "content-type": "application/json", **(headers or {})},
    )
    try:
        with urllib.request.urlopen(request) as answered:
            answer = json.load(answered)
    except urllib.error.HTTPError as error:
        raise Refused(error.code, error.headers, json.load(error)["error"]) from None
    return [numbers_of(item["embedding"]) for item in answer["data"]], answer["usage"]["prompt_tokens"]


def numbers_of(embedding):
    return array("f", base64.b64decode(embedding)) if isinstance(embedding, str) else embedding


def describe_refused(error):
    return error.described if isinstance(error, Refused) else {"class": type(error).__name__, "message": str(error)}
