"""Causal models of transformers by name or folder, and the tokenizer that goes with two of them."""

from typing import TYPE_CHECKING, Any

from rheocheck.adapters.tiny_models import needs
from rheocheck.core.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def load(name: str, *, dtype: str = "auto", device: str = "cpu") -> "PreTrainedModel":
    """The causal model `name`, in eval mode; dtype auto is that of its checkpoint."""
    with needs("hf"):
        from transformers import AutoModelForCausalLM
        from transformers.utils import logging
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        return AutoModelForCausalLM.from_pretrained(name, dtype=dtype).to(device).eval()
    except (OSError, ValueError) as error:
        raise _unloadable("a causal model of transformers", name, error) from error
    finally:
        if bars:
            logging.enable_progress_bar()


def load_tokenizer(target: str, drafter: str) -> "PreTrainedTokenizerBase":
    """The target's tokenizer; the drafter's must number the tokens alike."""
    ours, theirs = _tokenizer(target), _tokenizer(drafter)
    if ours.get_vocab() != theirs.get_vocab():
        raise InputError(
            f"target and drafter must have one vocabulary, {target} and {drafter} number their tokens differently; "
            "take two models of one family"
        )
    return ours


def _tokenizer(name: str) -> Any:
    with needs("hf"):
        from transformers import AutoTokenizer
    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise _unloadable("a model with a tokenizer", name, error, "; give the prompt by --prompt-ids") from error


def _unloadable(what: str, name: str, error: Exception, hint: str = "; name a folder or a model") -> InputError:
    first = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return InputError(f"{name} must be {what}, transformers says: {first}{hint}")
