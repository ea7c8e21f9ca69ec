import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from openai import InvalidWebhookSignatureError, OpenAI

client = OpenAI(api_key="not needed here", webhook_secret=os.environ["WEBHOOK_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))  # exactly as it arrived
        try:
            event = client.webhooks.unwrap(body, self.headers)
        except InvalidWebhookSignatureError as error:
            print("refused:", error)
            self.send_response(400)
        else:
            print(event.id, event.type, event.data)
            self.send_response(204)
        self.end_headers()


HTTPServer(("127.0.0.1", 9001), Receiver).serve_forever()
