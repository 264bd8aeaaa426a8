"""Causal models of transformers by what a user writes, and the tokenizer that goes with two of them.

a name or a folder       as `AutoModelForCausalLM.from_pretrained` takes it
FILE.gguf                read by transformers and dequantised; float32 unless a dtype is given (extra `smollm2`)
"module:attr"            a model, or a function without arguments that returns one; its tokenizer is what
                         `tokenizer` of the same module is or returns
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheocheck.adapters.tiny_models import needs
from rheocheck.core.errors import InputError, RheocheckError
from rheocheck.formats.loading import is_import_string, load_attribute

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

WITHOUT = "; give the prompt by --prompt-ids"


def load(name: str, *, dtype: str = "auto", device: str = "cpu") -> "PreTrainedModel":
    """The causal model `name`, in eval mode; dtype auto is that of its checkpoint, or of what a function returns."""
    with needs("hf"):
        from transformers import AutoModelForCausalLM
        from transformers.utils import logging
    if is_import_string(name):
        return _made(name, dtype, device)
    place = _place(name)
    if "gguf_file" in place and dtype == "auto":
        dtype = "float32"
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model, loading = AutoModelForCausalLM.from_pretrained(**place, dtype=dtype, output_loading_info=True)
        model = model.to(device).eval()
    except Exception as error:  # whatever a damaged or unfitting file makes of it
        raise _unloadable("a causal model of transformers", name, error) from error
    finally:
        if bars:
            logging.enable_progress_bar()
    missing = sorted(loading["missing_keys"])
    if missing:  # transformers goes on with random ones
        raise InputError(
            f"{name} must hold all weights of {type(model).__name__}, it lacks {len(missing)}, such as {missing[0]}; "
            "take a checkpoint of a causal model"
        )
    return model


def load_tokenizer(target: str, drafter: str) -> "PreTrainedTokenizerBase":
    """The target's tokenizer; the drafter's must number the tokens alike."""
    ours, theirs = _tokenizer(target), _tokenizer(drafter)
    if ours is not theirs and ours.get_vocab() != theirs.get_vocab():
        raise InputError(
            f"target and drafter must have one vocabulary, {target} and {drafter} number their tokens differently; "
            "take two models of one family"
        )
    return ours


def _made(name: str, dtype: str, device: str) -> Any:
    """The model that "module:attr" is or returns."""
    import torch

    model = load_attribute(name, "model")
    if not isinstance(model, torch.nn.Module) and callable(model):
        model = _called(name, model)
    if not isinstance(model, torch.nn.Module) or not hasattr(getattr(model, "config", None), "get_text_config"):
        raise InputError(
            f"{name} must be a causal model of transformers, or a function without arguments that returns one, "
            f"got {type(model).__name__}; name another attribute"
        )
    return model.to(device, None if dtype == "auto" else getattr(torch, dtype)).eval()


def _called(name: str, make: Callable[[], Any]) -> Any:
    """What the user's function returns."""
    try:
        return make()
    except RheocheckError:
        raise
    except Exception as error:
        raise InputError(
            f"{name} must return when called without arguments, got {type(error).__name__}: {_first(error)}; "
            "try it in Python"
        ) from error


def _tokenizer(name: str) -> Any:
    with needs("hf"):
        from transformers import AutoTokenizer
    if is_import_string(name):
        load_attribute(name, "model")  # or say why it cannot be
        return _made_tokenizer(name.partition(":")[0])
    place = _place(name)
    try:
        return AutoTokenizer.from_pretrained(**place)
    except Exception as error:
        raise _unloadable("a model with a tokenizer", name, error, WITHOUT) from error


def _made_tokenizer(module: str) -> Any:
    """What `tokenizer` of this module is or returns."""
    tokenizer = getattr(import_module(module), "tokenizer", None)
    if not hasattr(tokenizer, "get_vocab") and callable(tokenizer):
        tokenizer = _called(f"{module}:tokenizer", tokenizer)
    if not hasattr(tokenizer, "get_vocab"):
        raise InputError(f"{module} must have a tokenizer, got {type(tokenizer).__name__}: name it tokenizer{WITHOUT}")
    return tokenizer


def _place(name: str) -> dict[str, str]:
    """Where `from_pretrained` finds a model: a .gguf file is a folder and a name."""
    if not name.endswith(".gguf"):
        return {"pretrained_model_name_or_path": name}
    path = Path(name)
    if not path.is_file():
        raise InputError(f"{name} must be a file, got none of that name; check the path")
    with needs("smollm2"):
        for package in ("gguf", "accelerate"):
            import_module(package)
    return {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}


def _unloadable(what: str, name: str, error: Exception, hint: str = "; name a folder or a model") -> InputError:
    return InputError(f"{name or repr(name)} must be {what}, transformers says: {_first(error)}{hint}")


def _first(error: Exception) -> str:
    """The first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
