"""Temperature, top-k and top-p of the target, in transformers' order and by its rules.

    l -> l / T -> top_k: drop l < the k-th largest -> top_p: ascending, drop while their probability is <= 1 - top_p

What is dropped becomes -inf. A greedy row (T = 0) is left as it is: its law is one-hot on the first largest logit.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rheocheck.production.tops import working


def filtered(
    rows: Float[Tensor, "B n V"],
    temperature: Float[Tensor, "B"],
    top_k: Int[Tensor, "B"],
    top_p: Float[Tensor, "B"],
) -> Float[Tensor, "B n V"]:
    """Logits whose softmax is the law that is sampled from, each row by its own parameters."""
    sampled = temperature > 0
    scores = rows.to(working(rows.dtype))
    scores = scores / torch.where(sampled, temperature, 1.0).to(scores.dtype)[:, None, None]
    k = torch.where(sampled, top_k, 0)
    if bool((k > 0).any()):
        scores = _top_k(scores, k)
    if bool((sampled & (top_p < 1)).any()):
        scores = _top_p(scores, torch.where(sampled, top_p, 1.0))
    return scores


def _top_k(scores: Float[Tensor, "B n V"], k: Int[Tensor, "B"]) -> Float[Tensor, "B n V"]:
    B, n, V = scores.shape
    most = min(int(k.max()), V)
    place = torch.where(k > 0, k, 1).clamp_max(most) - 1
    cut = scores.topk(most).values.gather(-1, place[:, None, None].expand(B, n, 1))
    return scores.masked_fill((scores < cut) & (k > 0)[:, None, None], -torch.inf)


def _top_p(scores: Float[Tensor, "B n V"], top_p: Float[Tensor, "B"]) -> Float[Tensor, "B n V"]:
    ascending, order = scores.sort(dim=-1)
    dropped = ascending.softmax(-1).cumsum(-1) <= (1 - top_p).to(scores.dtype)[:, None, None]
    dropped &= (top_p < 1)[:, None, None]
    dropped[..., -1] = False
    return scores.masked_fill(dropped.new_zeros(scores.shape).scatter_(-1, order, dropped), -torch.inf)
