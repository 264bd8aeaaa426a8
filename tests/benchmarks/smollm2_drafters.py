"""Which part of SmolLM2-135M drafts for the whole: overlap of the laws and mean block of some self-drafters.

    python -m tests.benchmarks.smollm2_drafters

overlap     mean over held-out tokens of sum_x min(p(x), q(x)), in texts that the target sampled at temperature 1
mean block  tokens a pass of the target in `rheocheck.generation.generate`, T = 1, the default tree, six prompts
weights     of the drafter, head included, as a share of the target's: what a pass of the drafter reads

A lens is fitted as `rheocheck.adapters.smollm2` does, on other texts.
"""

import copy

import torch

from rheocheck.adapters import smollm2, tuned_lens
from rheocheck.generation import Request, generate

PROMPTS = (
    "The capital of France is", "Write a function that sorts a list:\n", "The old man walked to the sea and",
    "Photosynthesis is the process", "My favourite book is", "How do I learn to swim?\n",
)  # fmt: skip
SEED, TOKENS, NEW = 2, 64, 24


def skipping(target, first, last):
    """The first and the last layers, as one model with a cache of its own."""
    model = tuned_lens.drafter(target, first + last)
    for place in range(first, first + last):
        layer = copy.copy(target.model.layers[place - first - last])
        layer._modules = dict(layer._modules)
        layer.self_attn = copy.copy(layer.self_attn)
        layer.self_attn.layer_idx = place
        model.model.layers[place] = layer
    return model


def candidates(target):
    """(name, drafter)"""
    lengths = [smollm2.tokenizer()(prompt).input_ids[: smollm2.PROMPT_TOKENS] for prompt in smollm2.PROMPTS * 2]
    texts = tuned_lens.sampled_texts(target, lengths, smollm2.TOKENS, smollm2.SEED)
    for layers in (4, 12, 24):
        yield f"early exit after {layers}", tuned_lens.drafter(target, layers)
    yield "first 12 + last 8", skipping(target, 12, 8)
    for layers in (4, 12):
        lens = tuned_lens.fit(target, texts, layers, ridge=smollm2.RIDGE)
        yield f"early exit after {layers} + lens", tuned_lens.drafter(target, layers, lens)


@torch.inference_mode()
def overlap(target, drafter, texts):
    """Mean of sum_x min(p(x), q(x)) over the tokens of the texts."""
    both = [torch.minimum(*(m(row).logits.softmax(-1) for m in (target, drafter))).sum(-1)[0] for row in texts]
    return float(torch.cat(both).mean())


def main():
    target = smollm2.target()
    prompts = [tuple(smollm2.tokenizer()(prompt).input_ids) for prompt in PROMPTS]
    texts = [
        torch.tensor(tuned_lens.sampled_texts(target, [prompt], TOKENS, SEED + i)) for i, prompt in enumerate(prompts)
    ]
    requests = [Request(prompt=ids, max_new_tokens=NEW, seed=i, eos=()) for i, ids in enumerate(prompts)]
    whole = sum(weight.numel() for weight in target.parameters())
    print("drafter                    weights  overlap  mean block  probe acceptance")
    for name, drafter in candidates(target):
        share = sum(weight.numel() for weight in drafter.parameters()) / whole
        found = generate(target, drafter, requests).statistics
        print(
            f"{name:<26} {share:7.0%}  {overlap(target, drafter, texts):7.3f}  {found.mean_block:10.2f}"
            f"  {found.probe_acceptance:16.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
