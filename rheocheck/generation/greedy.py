"""Greedy answers against transformers' own greedy search: where they part, is it rounding, or a bug?

Both go by the largest logit, but one reads a tree over a batch, the other a token at a time: their logits differ by
rounding, so that nearly tied tokens may change places. At the first difference of an answer,

    margin     |l(ours) - l(theirs)|, from a fresh pass of the target, without a cache
    rounding   max |tree pass - fresh pass|, over the vocabulary, at this place
    usual      max |transformers' cached pass - fresh pass|, at all places of its answer; at least one unit in the last
               place of the largest logit (float32 at best, to which transformers casts logits)

    near-tie     margin <= 2 max(rounding, usual), and rounding <= 4 usual: either choice is a largest logit, rounded
    structural   anything else: logits too far off to be rounded ones (mask, position, cache), or no largest logit taken

What follows a difference continues another text and is not compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.generation.generate import Decoding, Generated
from rheocheck.generation.requests import Request, eos_of
from rheocheck.production.decide import Verifier
from rheocheck.production.slots import Builder

MORE = 4  # how much more than transformers' own rounding a tree pass may show: its sums have another order, and length
Text = tuple[int, ...]


@dataclass(frozen=True)
class GreedyDifference:
    """The first place of an answer where the two differ.

    A token is None where that text has ended; there is no margin then, and no rounding.
    """

    request: int
    position: int
    ours: int | None
    theirs: int | None
    margin: float | None = None
    rounding: float | None = None
    usual: float | None = None

    @property
    def verdict(self) -> str:
        """near-tie or structural; NaN is never near."""
        if self.margin is None or self.rounding is None or self.usual is None:
            return "structural"
        near = self.margin <= 2 * max(self.rounding, self.usual) and self.rounding <= MORE * self.usual
        return "near-tie" if near else "structural"


@dataclass(frozen=True)
class GreedyComparison:
    """What `generate` answers, and where transformers' greedy search answers something else."""

    generated: Generated
    differences: tuple[GreedyDifference, ...]

    @property
    def structural(self) -> bool:
        """Whether a difference cannot be rounding."""
        return any(difference.verdict == "structural" for difference in self.differences)


@torch.inference_mode()
def against_greedy(
    target: Any,
    drafter: Any,
    requests: Sequence[Request],
    *,
    shape: Shape | None = None,
    builder: str | Builder = "rheo",
    verifier: str | Verifier = "rheo",
) -> GreedyComparison:
    """Answer greedy requests, and compare with `target.generate(do_sample=False)`, one request at a time.

    Raises InputError where a request is not greedy, or cannot be answered.
    """
    warm = [request.temperature for request in requests if request.temperature > 0]
    if warm:
        raise InputError(f"temperature must be 0 to compare with greedy search, got {warm[0]}; ask for 0")
    decoding = Decoding(target, drafter, requests, shape or Shape(), builder, verifier)
    searched = [_search(target, request) for request in requests]
    read: dict[int, Tensor] = {}

    def look(number: int, logits: Float[Tensor, "n V"], block: Sequence[int]) -> None:
        """Keep the logits at the first difference."""
        start = len(decoding.texts[number])
        theirs = searched[number][0][start : start + len(block)]
        places = [place for place, (x, y) in enumerate(zip(block, theirs, strict=False)) if x != y]
        if places and number not in read:
            read[number] = logits[places[0]].clone()

    while decoding.rows:
        decoding.cycle(look)
    found = []
    for number, (request, (theirs, logits)) in enumerate(zip(requests, searched, strict=True)):
        ours = tuple(decoding.texts[number])
        if ours != theirs:
            found.append(_difference(target, number, request, ours, theirs, logits, read.get(number)))
    return GreedyComparison(Generated(tuple(map(tuple, decoding.texts)), decoding.statistics), tuple(found))


def _search(target: Any, request: Request) -> tuple[Text, tuple[Tensor, ...]]:
    """transformers' answer, and its logits at every step."""
    ids = torch.tensor([request.prompt], device=target.device)
    out = target.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=request.max_new_tokens,
        eos_token_id=sorted(eos_of(request, target)) or target.config.get_text_config().vocab_size,  # no token: never
        pad_token_id=0, return_dict_in_generate=True, output_logits=True,
    )  # fmt: skip
    return tuple(out.sequences[0, len(request.prompt) :].tolist()), out.logits


def _difference(
    target: Any, number: int, request: Request, ours: Text, theirs: Text, steps: Sequence[Tensor], tree: Tensor | None
) -> GreedyDifference:
    same = [x == y for x, y in zip(ours, theirs, strict=False)]
    place = same.index(False) if False in same else len(same)
    mine, other = (text[place] if place < len(text) else None for text in (ours, theirs))
    if tree is None:  # one text is the beginning of the other: cut where it should not be, or not where it should
        return GreedyDifference(number, place, mine, other)
    ids = torch.tensor([[*request.prompt, *theirs[:-1]]], device=target.device)
    fresh = target(input_ids=ids).logits[0, len(request.prompt) - 1 :]
    eps = max(torch.finfo(dtype).eps for dtype in (fresh.dtype, torch.float32))
    usual = max(_apart(torch.cat(tuple(steps)), fresh), eps * float(fresh[place].abs().max()))
    margin = abs(float(fresh[place, mine]) - float(fresh[place, other]))
    return GreedyDifference(number, place, mine, other, margin, _apart(tree, fresh[place]), usual)


def _apart(a: Tensor, b: Tensor) -> float:
    """The largest difference; impossible tokens, -inf in both, are alike."""
    a, b = a.double(), b.double()
    return float((a - b).abs().masked_fill_(a == b, 0.0).max())
