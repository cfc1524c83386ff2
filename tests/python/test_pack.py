import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnigram
from omnigram import AUDIO, IMAGE, MARKER, TEXT

IDS = omnigram.Ids.make(text=100, image=16, audio=8)


def build(documents, ids=IDS):
    builder = omnigram.DocumentsBuilder(ids)
    codebooks = {IMAGE: builder.codebook("1" * 64), AUDIO: builder.codebook("a" * 64)}
    for index, items in enumerate(documents):
        builder.begin(0, index)
        for modality, codes in items:
            builder.item(modality, np.array(codes), codebook=codebooks.get(modality, -1))
        builder.end()
    return builder.finish()


CARD = [(TEXT, [1, 2, 3]), (IMAGE, [[0, 1], [2, 3]]), (AUDIO, [4, 5, 6])]


def test_id_ranges_are_disjoint():
    assert IDS.base[TEXT] == 0
    assert [IDS.modality(IDS.base[m]) for m in (TEXT, IMAGE, AUDIO, MARKER)] == [TEXT, IMAGE, AUDIO, MARKER]
    assert IDS.modality(IDS.size) == -1


def test_layout_of_a_card():
    with build([CARD]) as documents:
        documents.check()
        assert len(documents) == 1 and documents.origins["index"].tolist() == [0]
        modality = documents.modality
        assert (documents.tokens[modality == TEXT] == [1, 2, 3]).all()
        image = documents.tokens[modality == IMAGE] - IDS.base[IMAGE]
        assert image.tolist() == [0, 1, 2, 3]
        assert documents.row[modality == IMAGE].tolist() == [0, 0, 1, 1]
        assert documents.column[modality == IMAGE].tolist() == [0, 1, 0, 1]
        assert documents.segments["modality"].tolist() == [TEXT, IMAGE, AUDIO]
        assert (documents.segments["rows"][1], documents.segments["columns"][1]) == (2, 2)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.sampled_from(["best_fit", "first_fit", "concat", "none"]))
@settings(deadline=None)
def test_every_length_lies_in_one_bin(lengths, method):
    plan = omnigram.pack_lengths(lengths, 64, method)
    assert sorted(plan.docs.tolist()) == list(range(len(lengths)))
    loads = [sum(lengths[d] for d in plan.docs[a:b]) for a, b in zip(plan.bin_offsets, plan.bin_offsets[1:])]
    assert max(loads) <= 64 and plan.bins >= plan.lower_bound >= -(-sum(lengths) // 64)
    assert plan.fill == pytest.approx(sum(lengths) / (plan.bins * 64))


def test_a_length_out_of_range_is_named():
    with pytest.raises(omnigram.InvalidError, match="65"):
        omnigram.pack_lengths([3, 65], 64)


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=20), min_size=1, max_size=12))
@settings(deadline=None, max_examples=40)
def test_packs_hold_the_contract_and_every_token(texts):
    documents = build([[(TEXT, t)] for t in texts])
    packs = omnigram.Packs.build(documents, capacity=64)
    packs.check()
    seen = {}
    for pack in packs:
        assert pack.cu_seqlens[0] == 0 and pack.cu_seqlens[-1] == pack.n_valid
        assert (pack.doc_id[pack.n_valid:] == -1).all() and (pack.loss_weight[pack.n_valid:] == 0).all()
        assert (pack.loss_weight[pack.cu_seqlens[:-1]] == 0).all()
        for d, (a, b) in enumerate(zip(pack.cu_seqlens, pack.cu_seqlens[1:])):
            assert (pack.doc_id[a:b] == d).all() and pack.pos[a:b].tolist() == list(range(b - a))
            tokens = pack.tokens[a:b]
            seen[int(pack.origin["index"][d])] = tokens[pack.modality[a:b] == TEXT].tolist()
    assert [seen[i] for i in range(len(texts))] == texts


def test_files_read_back_in_place(tmp_path):
    documents = build([CARD] * 5)
    documents.save(tmp_path / "documents.safetensors")
    again = omnigram.Documents.load(tmp_path / "documents.safetensors")
    np.testing.assert_array_equal(again.tokens, documents.tokens)
    packs = omnigram.Packs.build(again, capacity=48)
    packs.save(tmp_path / "packs.safetensors")
    with omnigram.Packs.load(tmp_path / "packs.safetensors") as loaded:
        assert len(loaded) == len(packs) and loaded.capacity == 48 and loaded.ids == IDS
        pack = loaded[0]
        for field in ("tokens", "cu_seqlens", "pos3", "segments", "origin"):
            np.testing.assert_array_equal(getattr(pack, field), getattr(packs[0], field))
    assert pack.tokens[0] == packs[0].tokens[0]  # the map outlives close() while it is viewed
    with pytest.raises(ValueError):
        pack.tokens[0] = 1


def test_digests_are_what_the_page_says(tmp_path):
    """Recomputed by hashlib; and a file that was edited with care is read again."""
    import pack_digest
    with build([CARD] * 3) as documents, omnigram.Packs.build(documents, capacity=32) as packs:
        documents.save(tmp_path / "documents")
        packs.save(tmp_path / "packs")
    for name in ("documents", "packs"):
        arrays, metadata = pack_digest.read(tmp_path / name)
        assert pack_digest.file_digest(arrays, metadata) == metadata["digest"]
        if name == "packs":
            assert (pack_digest.pack_digests(arrays) == arrays["digests"]).all()
        arrays["origin"][0, 1] += 5
        from safetensors.numpy import save_file
        save_file(arrays, tmp_path / "edited", metadata)
        with pytest.raises(omnigram.OmnigramError, match="edited.*SHA-256.*must be"):
            list(omnigram.Packs.load(tmp_path / "edited")) if name == "packs" else omnigram.Documents.load(tmp_path / "edited")
        pack_digest.write(tmp_path / "edited", arrays, metadata)
        list(omnigram.Packs.load(tmp_path / "edited")) if name == "packs" else omnigram.Documents.load(tmp_path / "edited")


def test_faults_are_named(tmp_path):
    with pytest.raises(omnigram.InvalidError, match="16"):
        build([[(IMAGE, [[16]])]])
    with pytest.raises(omnigram.InvalidError, match="capacity"):
        omnigram.Packs.build(build([CARD]), capasity=64)
    with pytest.raises(omnigram.OmnigramError, match="8"):
        omnigram.Packs.build(build([CARD]), capacity=8)
    (tmp_path / "bad").write_bytes(b"\x10" + bytes(40))
    with pytest.raises(omnigram.OmnigramError, match="bad"):
        omnigram.Packs.load(tmp_path / "bad")
