"""The vocabulary has its size, loses nothing, and cuts long texts short."""

import pytest

from rheocheck.bench.text import standard_library
from rheocheck.bench.vocabulary import encoded, train_vocabulary
from rheocheck.core.errors import InputError


@pytest.fixture(scope="module")
def texts():
    return standard_library(40).training


def test_size_ends_and_round_trip(texts):
    tokenizer = train_vocabulary(texts, 600)
    assert tokenizer.get_vocab_size() == 600
    strange = [texts[0], "naïve \u20ac\x00 \n\ttabs", "", "word " * 9]
    ids = encoded(tokenizer, strange)
    assert all(one[-1] == 0 and 0 not in one[:-1] for one in ids)
    assert [tokenizer.decode(one[:-1]) for one in ids] == strange
    assert len(ids[0]) < len(texts[0].encode()) / 1.5


def test_the_same_text_gives_the_same_tokens(texts):
    assert train_vocabulary(texts, 450).to_str() == train_vocabulary(texts, 450).to_str()


def test_too_little_text_is_one_line():
    with pytest.raises(InputError, match="the text must give 600 tokens, got .*; lower --vocab-size") as caught:
        train_vocabulary(["abc abd"], 600)
    assert "\n" not in str(caught.value)
