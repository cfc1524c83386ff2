import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnigram
from omnigram import AUDIO, IMAGE, TEXT

IDS = omnigram.Ids.make(text=100, image=16, audio=8)
BOOKS = ("1" * 64, "a" * 64)


def addressing(scheme="mix64"):
    return {"scheme": scheme, "rows": 65537}


TABLES = {
    "text": {"stencil": "lags", "modality": "text", "orders": [2, 3, 4], "addressing": addressing(), "dim": 8},
    "image": {"stencil": "grid", "cells": [["W"], ["N"], ["W", "N"]], "addressing": addressing(), "dim": 8},
    "audio": {"stencil": "lags", "modality": "audio", "orders": [2], "addressing": addressing(), "dim": 8},
    "text_image": {"stencil": "cross", "from": "text", "modality": "image", "orders": [2], "addressing": addressing(), "dim": 8},
}


def pack_of(documents) -> omnigram.Packs:
    builder = omnigram.DocumentsBuilder(IDS)
    books = {IMAGE: builder.codebook(BOOKS[0]), AUDIO: builder.codebook(BOOKS[1])}
    for index, items in enumerate(documents):
        builder.begin(0, index)
        for modality, codes in items:
            builder.item(modality, np.array(codes), codebook=books.get(modality, -1))
        builder.end()
    return omnigram.Packs.build(builder.finish(), capacity=256, method="concat")


def random_document(rng):
    items = [(TEXT, rng.integers(0, 100, rng.integers(2, 9))), (IMAGE, rng.integers(0, 16, (3, 4))),
             (AUDIO, rng.integers(0, 8, rng.integers(2, 7)))]
    return [items[i] for i in rng.permutation(3)]


@given(st.integers(0, 10_000), st.integers(0, 2))
@settings(deadline=None, max_examples=40)
def test_a_poke_stays_in_its_document(seed, which):
    """Any code of one document changes; the rows of every other document stay, bit for bit."""
    rng = np.random.default_rng(seed)
    documents = [random_document(rng) for _ in range(3)]
    modality, codes = documents[1][which]
    poked = np.array(codes)
    at = tuple(rng.integers(0, n) for n in poked.shape)
    poked[at] = (poked[at] + 1) % (100, 16, 8)[modality]
    other = [list(document) for document in documents]
    other[1][which] = (modality, poked)
    with omnigram.TableSet(TABLES, IDS, BOOKS) as tables, pack_of(documents) as a, pack_of(other) as b:
        before, after = tables.rows(a[0]), tables.rows(b[0])
        outside = a[0].doc_id != 1
        np.testing.assert_array_equal(before[outside], after[outside])
        assert not np.array_equal(before[~outside], after[~outside])  # the poke is seen where it may be


def test_an_image_s_rows_are_those_of_its_neighbours():
    """The row of a cell is a function of (the code, its neighbours' codes), and absent where a neighbour is."""
    codes = np.random.default_rng(3).integers(0, 3, (12, 12))
    with omnigram.TableSet({"image": TABLES["image"]}, IDS, BOOKS) as tables, pack_of([[(IMAGE, codes)]]) as packs:
        pack = packs[0]
        rows = tables.rows(pack)
        cells = [(t, pack.row[t], pack.column[t]) for t in range(pack.n_valid) if pack.modality[t] == IMAGE]
        assert len(cells) == 144
        for column, neighbours in enumerate((((0, -1),), ((-1, 0),), ((0, -1), (-1, 0)))):
            seen = {}
            for t, r, c in cells:
                around = [(r + dr, c + dc) for dr, dc in neighbours]
                if any(i < 0 or j < 0 for i, j in around):
                    assert rows[t, column] == omnigram.ROW_NONE
                else:
                    key = (codes[r, c], *(codes[i, j] for i, j in around))
                    assert seen.setdefault(key, rows[t, column]) == rows[t, column]
            assert len(set(seen.values())) == len(seen)
        assert (rows[pack.modality != IMAGE] == omnigram.ROW_NONE).all()


def test_the_control_ignores_context():
    codes = np.zeros((12, 12), int)
    control = {"image": {**TABLES["image"], "addressing": addressing("random_row")}}
    with omnigram.TableSet(control, IDS, BOOKS) as tables, pack_of([[(IMAGE, codes)]]) as packs:
        rows = tables.rows(packs[0])
        assert len(set(rows[rows >= 0].tolist())) > 100  # equal codes all over, yet different rows
        with omnigram.TableSet({"image": TABLES["image"]}, IDS, BOOKS) as real:
            assert [(t.rows, t.dim, t.n_columns) for t in tables.tables] == [(t.rows, t.dim, t.n_columns) for t in real.tables]
            np.testing.assert_array_equal(rows >= 0, real.rows(packs[0]) >= 0)


def test_what_a_table_is_keyed_by_is_in_its_fingerprint():
    with omnigram.TableSet(TABLES, IDS, BOOKS) as tables, omnigram.TableSet(TABLES, IDS, ("2" * 64, BOOKS[1])) as other:
        ours, theirs = ({t.name: t.fingerprint for t in s.tables} for s in (tables, other))
        assert ours["text"] == theirs["text"] and ours["image"] != theirs["image"]
        assert tables.width == 8 * len(tables.columns)


def test_modalities_of_codebooks_are_checked():
    for wrong, says in (([IMAGE], "modalities: 1 for 2 codebooks"), ([IMAGE, "audio"], r"modalities\[1\]"), ([IMAGE, 2**40], r"modalities\[1\]")):
        with pytest.raises(omnigram.InvalidError, match=says):
            omnigram.TableSet(TABLES, IDS, BOOKS, wrong)


def test_faults_are_named():
    with pytest.raises(omnigram.InvalidError, match="grid"):
        omnigram.TableSet({"image": {**TABLES["image"], "stencil": "grit"}}, IDS, BOOKS)
    with pytest.raises(omnigram.OmnigramError, match="cells"):
        omnigram.TableSet({"image": {**TABLES["image"], "cellz": []}}, IDS, BOOKS)
