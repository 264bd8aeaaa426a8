"""A byte-level subword vocabulary, trained on the text: every text has ids, and no token is unknown.

Token 0 ends a text. The vocabulary must be larger than the drafter's top 128, or nothing would be truncated.
"""

from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from rheocheck.core.errors import InputError

END = "<end>"
BYTES = 256
LEAST, MOST = BYTES + 1 + 128, 65536  # bytes, the end, and some merges


def train_vocabulary(texts: Iterable[str], size: int) -> Tokenizer:
    """Exactly `size` tokens; raises InputError where the text has too few pairs to merge."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(texts, trainer)
    got = tokenizer.get_vocab_size()
    if got != size:
        raise InputError(f"the text must give {size} tokens, got {got}; lower --vocab-size")
    return tokenizer


def encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Ids of every text, the end included."""
    end = tokenizer.token_to_id(END)
    return [[*one.ids, end] for one in tokenizer.encode_batch(list(texts))]
