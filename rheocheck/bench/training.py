"""Two small Llamas: a target that learns the text, and a drafter that learns the target.

    target   minimises   -log p(x)                   over windows of the text
    drafter  minimises   -sum over x of p(x) log q(x)   over texts that the target wrote: its whole law, where it goes

A distilled drafter agrees with its target more than one that only read the same text. It begins as the target's own
embeddings and first layers; EAGLE's drafters learn from what the target says and share its embeddings too.

AdamW, a linear warm-up, then a half cosine to a tenth of the rate. Losses are nats a token.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import LlamaConfig, LlamaForCausalLM

from rheocheck.bench.settings import Size

POSITIONS = 1024
WARM_UP = 0.05  # of the steps
WEIGHT_DECAY = 0.1
CLIP = 1.0
BATCH = 256  # texts that the target writes at once
CHECKED = 256  # windows, at most, that a held-out figure is a mean over

Loss = Callable[[LlamaForCausalLM, Tensor], Tensor]


def new_model(size: Size, vocab_size: int, seed: int) -> LlamaForCausalLM:
    """A Llama with random weights that depend on the seed alone."""
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=size.hidden,
        intermediate_size=int(size.hidden * 8 / 3) // 16 * 16,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads,
        max_position_embeddings=POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        attn_implementation="sdpa",
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return LlamaForCausalLM(config)


def first_layers(target: LlamaForCausalLM, size: Size) -> LlamaForCausalLM:
    """A Llama of fewer layers and the same width, with the target's embeddings, first layers and norms."""
    model = new_model(size, target.config.vocab_size, 0)
    theirs = target.state_dict()
    model.load_state_dict({name: theirs[name] for name in model.state_dict()})
    return model


@torch.no_grad()
def written(target: LlamaForCausalLM, prompts: Sequence[Sequence[int]], length: int, seed: int) -> list[list[int]]:
    """Prompts of one width and how the target goes on, `length` tokens in all, sampled from its law at T = 1."""
    generator, found = torch.Generator().manual_seed(seed), []
    for part in torch.tensor(prompts).split(BATCH):
        texts, cache = part, None
        with tqdm(range(length - part.shape[1]), desc="the target writes", unit="token", leave=False) as bar:
            for _ in bar:
                unread = texts if cache is None else texts[:, -1:]
                out = target(input_ids=unread, cache=cache, use_cache=True)
                cache = out.cache
                drawn = torch.multinomial(out.logits[:, -1].softmax(-1), 1, generator=generator)
                texts = torch.cat([texts, drawn], 1)
        found += texts.tolist()
    return found


def windows(texts: Sequence[Sequence[int]], width: int) -> Tensor:
    """The texts, one after the other, cut into windows of `width` tokens and the one after them [n, width + 1]."""
    stream = torch.tensor([token for text in texts for token in text])
    return stream[: (len(stream) - 1) // width * width + 1].unfold(0, width + 1, width)


def train(
    model: LlamaForCausalLM,
    texts: Sequence[Sequence[int]],
    size: Size,
    loss: Loss,
    seed: int,
    *,
    every: int = 1,
    what: str = "train",
) -> list[float]:
    """Train in place, on windows that begin at multiples of `every`; the loss of every step."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=size.rate, betas=(0.9, 0.95), weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, size.steps))
    stream = torch.tensor([token for text in texts for token in text])
    generator = torch.Generator().manual_seed(seed)
    starts_at = torch.arange(0, len(stream) - size.window, every)
    losses = []
    model.train()
    with tqdm(range(size.steps), desc=what, unit="step", leave=False) as bar:
        for _ in bar:
            starts = starts_at[torch.randint(len(starts_at), (size.batch,), generator=generator)]
            found = loss(model, stream[starts[:, None] + torch.arange(size.window + 1)])
            optimiser.zero_grad(set_to_none=True)
            found.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimiser.step()
            schedule.step()
            losses.append(found.item())
            bar.set_postfix_str(f"{losses[-1]:.2f} nats", refresh=False)
    model.eval()
    return losses


def text_loss(model: LlamaForCausalLM, batch: Tensor) -> Tensor:
    """Nats a token of the text."""
    return cross_entropy(model(input_ids=batch[:, :-1]).logits.flatten(0, 1), batch[:, 1:].flatten())


def distillation(target: LlamaForCausalLM) -> Loss:
    """Nats a token of what the target would say instead of the text."""

    def loss(model: LlamaForCausalLM, batch: Tensor) -> Tensor:
        with torch.no_grad():
            p = target(input_ids=batch[:, :-1]).logits.flatten(0, 1).softmax(-1)
        return cross_entropy(model(input_ids=batch[:, :-1]).logits.flatten(0, 1), p)

    return loss


@torch.no_grad()
def held_out_loss(model: LlamaForCausalLM, texts: Sequence[Sequence[int]], width: int, loss: Loss = text_loss) -> float:
    """Mean nats a token over the first `CHECKED` windows of these texts."""
    whole = windows(texts, width)[:CHECKED]
    parts = [(loss(model, part).item(), len(part)) for part in whole.split(16)]
    return sum(mean * rows for mean, rows in parts) / sum(rows for _, rows in parts)


def _rate(step: int, steps: int) -> float:
    """The factor of the learning rate."""
    warm = max(1, int(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    done = (step - warm) / max(1, steps - warm)
    return 0.1 + 0.9 * (1 + torch.cos(torch.tensor(torch.pi * done)).item()) / 2
