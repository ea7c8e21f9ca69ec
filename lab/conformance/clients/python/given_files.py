"""Files in all the forms that openai-python takes."""

import base64
import io
import pathlib


def given(file, way):
    path = pathlib.Path(file["file"])
    forms = {
        "stream": lambda: path.open("rb"),
        "path": lambda: path,
        "bytes": path.read_bytes,
        "memory": lambda: io.BytesIO(path.read_bytes()),
        "named": lambda: (file["name"], path.read_bytes(), file["type"]),
        "untyped": lambda: (file["name"], path.read_bytes()),
        "unnamed": lambda: (None, path.read_bytes()),
    }
    return forms[way]()


def reference_to(file):
    """A picture in a request of JSON."""
    content = base64.b64encode(pathlib.Path(file["file"]).read_bytes()).decode()
    return {"image_url": f"data:{file['type']};base64,{content}"}
