"""A text as numbers of words: the Bible in the King James Version."""

from __future__ import annotations

import bz2
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from examples.apps.management import Keys

FILE = Path(__file__).parent / "data" / "king-james.txt.bz2"


@dataclass(frozen=True)
class Corpus:
    """A text; words count from 0, the most frequent first.

    Attributes
    ----------
    words : list of str
    counts : int64 array
        How often each word occurs.
    text : int64 array
        The words one after another; rare ones are left out.
    verses : int64 array
        The verse of each word in `text`.
    """

    words: list[str]
    counts: Keys
    text: Keys
    verses: Keys


def king_james(verses: int | None = None, least: int = 5) -> Corpus:
    """Return the text, or its first verses, with the words that occur `least` times."""
    lines = [line.split() for line in bz2.decompress(FILE.read_bytes()).decode().splitlines()[:verses]]
    counted = Counter(word for line in lines for word in line)
    words = [word for word, count in counted.most_common() if count >= least]
    number = {word: i for i, word in enumerate(words)}
    pairs = [(number[word], i) for i, line in enumerate(lines) for word in line if word in number]
    text, of_verse = np.array(pairs).T
    return Corpus(words, np.array([counted[word] for word in words]), text.copy(), of_verse.copy())


def same_stem(corpus: Corpus, least: int = 20) -> Keys:
    """Return pairs of words that differ in an ending, such as (come, cometh), shape (n, 2).

    Who learns from the order of words alone, and never sees a letter, finds them alike only by what they mean.
    """
    frequent = {word: i for i, word in enumerate(corpus.words) if corpus.counts[i] >= least and len(word) > 2}
    endings = ("s", "eth", "ed", "ing", "est")
    return np.array(
        [
            (i, frequent[word + end])
            for word, i in frequent.items()
            for end in endings
            if word + end in frequent
        ]
    )
