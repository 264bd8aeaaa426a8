"""What `generate` asks of a causal model of transformers. What would silently have another law is refused here, by its
config and its signature; a cache that is not kept whole by `CachedModel`, logits that are NaN when they come.
"""

import inspect
import math
from typing import Any

import torch

from rheocheck.core.errors import InputError

TREE = ("attention_mask", "position_ids", "cache")  # what the forward pass of a model must take, to read a tree

# What else of a generation config shapes the law of transformers' generate, and which values do not (None never does).
# A request stands in for its temperature, top_k, top_p and do_sample.
OTHERS: dict[str, tuple[object, ...]] = {
    "repetition_penalty": (1.0,), "encoder_repetition_penalty": (1.0,), "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,), "bad_words_ids": ([],), "sequence_bias": ({},), "min_length": (0,),
    "min_new_tokens": (0,), "forced_bos_token_id": (), "forced_eos_token_id": (), "suppress_tokens": ([],),
    "begin_suppress_tokens": ([],), "exponential_decay_length_penalty": (), "guidance_scale": (1.0,), "min_p": (0.0,),
    "top_h": (1.0,), "typical_p": (1.0,), "epsilon_cutoff": (0.0, 1.0), "eta_cutoff": (0.0, 1.0),
    "watermarking_config": (), "num_beams": (1,),
}  # fmt: skip


def check_model(name: str, model: Any) -> None:
    """Raise InputError where a model cannot read a tree: it must be told who sees whom, and where each token stands."""
    if model.training:
        raise InputError(f"{name} must not be in training mode, where dropout is drawn; call {name}.eval()")
    config = model.config.get_text_config()
    layers = getattr(config, "layer_types", None) or getattr(config, "attention_layers", None) or ()  # GPT-Neo: latter
    other = set(layers) - {"full_attention", "global"}
    if other:
        raise InputError(
            f"{name} must have full attention in all layers, {type(model).__name__} has {', '.join(sorted(other))}; "
            "take a model without sliding windows or recurrent layers"
        )
    lacks = [word for word in TREE if not takes(model, word)]
    if getattr(model.config, "alibi", False):
        lacks.append("positions apart from columns (it has ALiBi)")
    if lacks:
        raise InputError(
            f"{name} must take {', '.join(TREE)}, {type(model).__name__} lacks {', '.join(lacks)}; "
            "take a decoder-only transformer, such as Llama or Qwen"
        )


def takes(model: Any, word: str) -> bool:
    """Whether the forward pass takes this argument; of a model that torch.compile or PEFT wraps, the inner one's."""
    inner = getattr(model, "_orig_mod", model)
    inner = inner.get_base_model() if hasattr(inner, "get_base_model") else inner
    return word in inspect.signature(inner.forward).parameters


def check_generation_config(target: Any) -> None:
    """Raise InputError where transformers would shape the law by more than the parameters of a request."""
    config = getattr(target, "generation_config", None)
    for name, off in OTHERS.items():
        value = getattr(config, name, None)
        if value is not None and value not in off:
            raise InputError(
                f"{name} of the target's generation config must be off, got {value!r}, which is not applied "
                f"here; set target.generation_config.{name} = None to do without it (command line: --bare)"
            )


def positions(model: Any) -> int | float:
    """How many a model has; infinite where it does not say.

    A rotary embedding that depends on the longest text of a batch is used up to where it begins to do so.
    """
    config = model.config.get_text_config()
    last = getattr(config, "max_position_embeddings", None)
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") in ("dynamic", "longrope"):
        last = rope.get("original_max_position_embeddings", last)
    return math.inf if last is None else last


def check_device(name: str) -> None:
    """Raise InputError where nothing can be put, or drawn, on this device."""
    try:
        torch.empty(0, device=name)
        torch.Generator(name)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0]
        raise InputError(f"device must be one that torch can use, got {name!r}: {why:.120}; try cpu") from error
