"""A drafter made of its own target: the first k layers, an affine map, then the target's last norm's scale and head.

    h_k   hidden state after k of the L layers          f  the target's last norm
    p = softmax(head(f(h_L)))        q = softmax(head(A f(h_k) + b))
    A, b  minimise the mean of |A f(h_k) + b - f(h_L)|^2, plus a ridge on A, over the tokens of some texts

Without a map (A = 1, b = 0) it is plain early exit. The head reads early states badly, as they are written in another
basis: the tuned lens of Belrose et al. (arXiv:2303.08112), who train A on KL divergence where we solve least squares.
All weights but A and b are the target's, shared and not copied. For Llamas and models built alike.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rheocheck.adapters.tiny_models import check_integer, seeded
from rheocheck.core.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Lens:
    """The map from the normed state after `layers` layers, weight [d, d] and bias [d], to the normed last one."""

    layers: int
    weight: "Tensor"
    bias: "Tensor"


def sampled_texts(target: Any, prompts: Sequence[Sequence[int]], tokens: int, seed: int) -> list[list[int]]:
    """Every prompt (all of one length) and up to `tokens` new ids of the target's own sampling at temperature 1."""
    import torch

    ids = torch.tensor(prompts, device=target.device)
    with seeded(seed), torch.inference_mode():
        rows = target.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=True, max_new_tokens=tokens,
            temperature=1.0, top_k=0, top_p=1.0,
        )  # fmt: skip
    ends = target.generation_config.eos_token_id
    ends = {ends} if isinstance(ends, int) else set(ends or ())
    start = ids.shape[1]
    return [
        row[: next((place + 1 for place in range(start, len(row)) if row[place] in ends), len(row))]
        for row in rows.tolist()
    ]


def fit(target: Any, texts: Sequence[Sequence[int]], layers: int, *, ridge: float = 0.1) -> Lens:
    """Least squares in float64; `ridge` is in units of the mean variance of a coordinate of f(h_k)."""
    import torch

    _check_layers(target, layers)
    early, last = [], []
    with torch.no_grad():
        for text in texts:
            found = target.model(torch.tensor([text], device=target.device), output_hidden_states=True)
            early.append(target.model.norm(found.hidden_states[layers])[0])
            last.append(found.last_hidden_state[0])
        x, y = torch.cat(early).double(), torch.cat(last).double()
        x0, y0 = x.mean(0), y.mean(0)
        x, y = x - x0, y - y0
        square = x.T @ x
        square += ridge * square.diagonal().mean() * torch.eye(len(square), dtype=square.dtype, device=square.device)
        weight = torch.linalg.solve(square, x.T @ y).T
        return Lens(layers, weight.to(target.dtype), (y0 - weight @ x0).to(target.dtype))


def drafter(target: Any, layers: int, lens: Lens | None = None) -> Any:
    """The causal model of the first `layers` layers, with a lens fitted there or plain early exit."""
    import torch

    _check_layers(target, layers)
    config = copy.deepcopy(target.config)
    config.num_hidden_layers = layers
    with torch.device("meta"):  # no weights of its own
        model = type(target)(config)
    body = target.model
    model.model.embed_tokens, model.model.rotary_emb = body.embed_tokens, body.rotary_emb
    model.model.layers = torch.nn.ModuleList(body.layers[:layers])
    model.model.norm, model.lm_head = body.norm, target.lm_head
    if lens is not None:
        if lens.layers != layers:
            raise InputError(f"the lens must be of {layers} layers, got {lens.layers}; fit it there")
        width = len(lens.bias)
        linear = torch.nn.Linear(width, width, device="meta")
        for name in ("weight", "bias"):
            value = getattr(lens, name).to(target.device, target.dtype)
            setattr(linear, name, torch.nn.Parameter(value, requires_grad=False))
        model.model.norm = torch.nn.Sequential(body.norm, linear)
    return model.eval()


def _check_layers(target: Any, layers: int) -> None:
    check_integer("layers", layers, 1, len(target.model.layers) - 1, instead=1)
