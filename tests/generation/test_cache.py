"""What a cached model says is what a fresh pass over the same text says, for every accepted path."""

import pytest
import torch

from rheocheck.core import Shape
from rheocheck.generation import Request
from rheocheck.generation.cache import CachedModel
from rheocheck.generation.generate import Decoding
from tests.generation.llamas import one_thread, relatives  # noqa: F401

CLOSE = {torch.float64: 1e-10, torch.float32: 1e-5}
DTYPES = pytest.mark.parametrize("dtype", CLOSE, ids=str)
PARENT = (0, 0, 0, 0, 1, 1, 3, 5, 5, 6)  # of node 0, 1, ..; node 0 is the root
TOKEN = (7, 1, 2, 3, 1, 4, 2, 5, 6, 0)
V = 8


def fresh(model, ids):
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids])).logits[0, -1]


def path_to(node, parent):
    return [*path_to(int(parent[node]), parent), node] if node else [0]


@DTYPES
def test_every_path_of_a_tree_can_be_kept(dtype):
    model, _ = relatives(V, dtype)
    paths = [path_to(node, PARENT) for node in range(len(PARENT))]
    texts = [[(row * k + 1) % V for k in range(1 + row % 4)] for row in range(len(paths))]
    B, N1, longest = len(paths), len(PARENT), max(map(len, texts))
    with torch.inference_mode():
        cached = CachedModel(model, B)
        padded = torch.tensor([text + [0] * (longest - len(text)) for text in texts])
        cached.follow(padded, torch.tensor([len(text) for text in texts]))
        among = torch.zeros(N1, N1, dtype=torch.bool)
        for node, path in enumerate(paths):
            among[node, path] = True
        place = torch.tensor([len(path) - 1 for path in paths])
        logits = cached.read(*(part.expand(B, *part.shape) for part in (torch.tensor(TOKEN), place, among)))
        for row, text in enumerate(texts):
            for node, path in enumerate(paths):
                expected = fresh(model, text + [TOKEN[n] for n in path])
                torch.testing.assert_close(logits[row, node], expected, rtol=0, atol=CLOSE[dtype])
        deepest = max(map(len, paths))
        nodes = torch.tensor([path + [0] * (deepest - len(path)) for path in paths])
        cached.keep(nodes, torch.tensor([len(path) for path in paths]))
        following = cached.follow(torch.full((B, 1), 3), torch.ones(B, dtype=torch.long))
    for row, (text, path) in enumerate(zip(texts, paths, strict=True)):
        expected = fresh(model, [*text, *(TOKEN[n] for n in path), 3])
        torch.testing.assert_close(following[row], expected, rtol=0, atol=CLOSE[dtype])


@DTYPES
def test_fifty_cycles_are_a_fresh_pass(dtype):
    models = relatives(V, dtype)
    requests = [
        Request(prompt=(1, 2, 3), seed=1, max_new_tokens=240),
        Request(prompt=(4,), seed=2, max_new_tokens=240, temperature=0.7, top_k=5),
        Request(prompt=(1, 0, 6, 5, 5), seed=3, max_new_tokens=240, top_p=0.9),
    ]
    shape = Shape(leads=1, branching=3, depth=3, nodes=9)
    lengths = set()
    with torch.inference_mode():
        decoding = Decoding(*models, requests, shape, "rheo", "rheo")
        for _ in range(50):
            decoding.cycle()
            lengths |= set(map(len, decoding.new))
        assert decoding.rows == [0, 1, 2] and lengths == {1, 2, 3, 4}
        texts = [[*request.prompt, *text] for request, text in zip(requests, decoding.texts, strict=True)]
        assert decoding.target.length.tolist() == [len(text) - 1 for text in texts]
        tree = decoding._tree(decoding._draw())
        logits = decoding._read(tree)
    for row, text in enumerate(texts):
        for node in range(1 + shape.nodes):
            path = [tree.token[row, n].item() for n in path_to(node, tree.parent[row])[1:]]
            torch.testing.assert_close(logits[row, node], fresh(models[0], text + path), rtol=0, atol=CLOSE[dtype])


@DTYPES
def test_the_drafter_follows_the_text(dtype):
    models = relatives(V, dtype)
    requests = [Request(prompt=(1, 2, 3), seed=1), Request(prompt=(4,), seed=2), Request(prompt=(5,), max_new_tokens=3)]
    with torch.inference_mode():
        decoding = Decoding(*models, requests, Shape(leads=1, branching=3, depth=3, nodes=9), "rheo", "rheo")
        for _ in range(8):
            decoding.cycle()
        root = decoding.drafter.follow(*decoding._padded(decoding.new))
    assert decoding.rows == [0, 1]  # the third row has left the batch
    for row, number in enumerate(decoding.rows):
        expected = fresh(models[1], [*requests[number].prompt, *decoding.texts[number]])
        torch.testing.assert_close(root[row], expected, rtol=0, atol=CLOSE[dtype])
