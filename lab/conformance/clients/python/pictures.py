import base64
import hashlib
import urllib.request


def saved(items, case, kind):
    pictures = []
    for index, item in enumerate(items):
        # Links are fetched as a browser would, without a key.
        url = getattr(item, "url", None)
        content = base64.b64decode(item.b64_json) if url is None else urllib.request.urlopen(url).read()
        file = f"{case['saveAs']}-{kind}-{index}"
        with open(file, "wb") as saved_file:
            saved_file.write(content)
        picture = {"file": file, "sha256": hashlib.sha256(content).hexdigest()}
        pictures.append(picture if url is None else picture | {"url": url})
    return pictures
