"""Random vectors, and what sentence-transformers and numpy make of them. Arguments: the package's folder, the output's folder, the count."""

import importlib
import sys
import types
from pathlib import Path

import numpy as np

WIDTH = 128


class Stub(types.ModuleType):
    """A module that the file imports and quantize_embeddings never uses for arrays: every name in it is a class."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def quantization(folder):
    """The file itself, without the package around it, which would need torch and transformers."""
    for name in ("torch", "scipy", "scipy.sparse"):
        sys.modules[name] = Stub(name)
    package = types.ModuleType("util")
    package.__path__ = [str(Path(folder) / "sentence_transformers" / "util")]
    sys.modules["util"] = package
    return importlib.import_module("util.quantization")


def random_vectors(count):
    random = np.random.default_rng(20261118)
    # Each dimension has its own centre and spread, as in real models; some values are exactly zero.
    centres = random.normal(0, 0.02, WIDTH)
    spreads = random.uniform(0.01, 0.1, WIDTH)
    vectors = random.normal(centres, spreads, (count, WIDTH)).astype(np.float32)
    vectors[random.random(vectors.shape) < 0.01] = 0
    vectors[0, :] = 0
    vectors[1, :] = -0.0
    return vectors


package_folder, out, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
quantize_embeddings = quantization(package_folder).quantize_embeddings
vectors = random_vectors(count)
np.save(out / "vectors.npy", vectors)
for precision in ("binary", "ubinary"):
    np.save(out / f"{precision}.npy", quantize_embeddings(vectors, precision))
np.save(out / "float16.npy", vectors.astype(np.float16))
