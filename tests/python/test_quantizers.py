"""Codes against numpy in double, and the codebook file against the formula of its fingerprint."""

import hashlib
import json
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnigram


def distances(vectors, codes):
    """Exact enough to judge fp32: float64 [n, size]."""
    return ((vectors[:, None, :].astype(np.float64) - codes[None].astype(np.float64)) ** 2).sum(2)


@given(st.integers(1, 200), st.integers(1, 70), st.integers(1, 33), st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 1000.0]))
@settings(deadline=None, max_examples=40)
def test_nearest_equals_numpy_where_margins_are_clear(n, size, dim, seed, offset):
    rng = np.random.default_rng(seed)
    codes = (rng.standard_normal((1, size, dim)) + offset).astype(np.float32)
    vectors = (rng.standard_normal((n, dim)) + offset).astype(np.float32)
    with omnigram.Codebook("kmeans", "image", codes) as codebook:
        got = codebook.encode(vectors)[:, 0]
        np.testing.assert_array_equal(codebook.decode(got), codes[0][got])
    exact = distances(vectors, codes[0])
    ordered = np.sort(exact, 1)
    margin = ordered[:, 1] - ordered[:, 0] if size > 1 else np.full(n, np.inf)
    clear = margin > 1e-5 * ordered[:, 0] * np.sqrt(dim)
    assert clear.mean() > 0.5 or n < 20
    np.testing.assert_array_equal(got[clear], exact.argmin(1)[clear])


@pytest.mark.parametrize("batch", [1, 20, 26, 1000])
def test_codes_far_from_zero_find_themselves_in_any_batch(batch):
    """|v|^2 - 2vc + |c|^2 in fp32 cannot tell these codes apart; direct differences can."""
    rng = np.random.default_rng(7)
    codes = (1000 + 1e-3 * rng.standard_normal((1, 1024, 16))).astype(np.float32)
    assert len(np.unique(codes[0], axis=0)) == 1024
    with omnigram.Codebook("kmeans", "image", codes) as codebook:
        got = np.concatenate([codebook.encode(codes[0][i : i + batch])[:, 0] for i in range(0, 1024, batch)])
    np.testing.assert_array_equal(got, np.arange(1024))


def test_half_precision_vectors_have_one_code_in_any_batch():
    rng = np.random.default_rng(3)
    codes, vector = rng.standard_normal((1, 256, 8)).astype(np.float32), rng.standard_normal((1, 8)).astype(np.float16)
    with omnigram.Codebook("kmeans", "audio", codes) as codebook:
        got = {int(c) for n in (1, 20, 30, 32) for c in codebook.encode(np.repeat(vector, n, 0))[:, 0]}
        assert got == {int(distances(vector.astype(np.float32), codes[0]).argmin())}


def test_a_bad_vector_has_no_code_and_touches_no_other():
    rng = np.random.default_rng(1)
    codes = rng.standard_normal((1, 64, 5)).astype(np.float32)
    vectors = rng.standard_normal((100, 5)).astype(np.float32)
    with omnigram.Codebook("kmeans", "audio", codes) as codebook, omnigram.Pool(2) as pool:
        clean = codebook.encode(vectors)
        vectors[17, 2], vectors[55, 0] = np.nan, np.inf
        got = codebook.encode(vectors, pool)
        assert got[17] == got[55] == -1
        kept = np.setdiff1d(np.arange(100), [17, 55])
        np.testing.assert_array_equal(got[kept], clean[kept])
        with pytest.raises(omnigram.OmnigramError, match="code 64 of vector 3, level 0 .* codes are 0..63"):
            codebook.decode(np.array([0, 1, 2, 64], np.int32))


def test_the_fingerprint_is_its_formula(tmp_path):
    codes = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    preprocess = {"rate_hz": 16000, "mel": {"bands": 64, "low": 0.5}, "name": "é"}
    path = tmp_path / "a.safetensors"
    with omnigram.Codebook("rvq", "audio", codes, preprocess) as codebook:
        codebook.save(path)
        stored = codebook.fingerprint
    head = {"dim": 4, "levels": 2, "modality": "audio", "preprocess": preprocess, "quantizer": "rvq", "size": 3}
    canonical = json.dumps(head, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert stored == hashlib.sha256(canonical + codes.tobytes()).hexdigest()

    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    assert metadata["kind"] == "codebook" and metadata["fingerprint"] == stored
    assert json.loads(metadata["preprocess"]) == preprocess
    damaged = bytearray(data)
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(omnigram.OmnigramError, match=f"stored as {stored}, its contents have"):
        omnigram.Codebook.load(path)
    path.write_bytes(data[:-3])
    with pytest.raises(omnigram.OmnigramError, match="a.safetensors"):
        omnigram.Codebook.load(path)


@pytest.mark.parametrize("order", ["import omnigram, torch", "import torch, omnigram"])
def test_one_openmp_runtime(order, root):
    """FAISS and torch share it; two would fight for the processors."""
    pytest.importorskip("torch")
    found = subprocess.run(
        [sys.executable, "-c", f"import re\n{order}\nprint(*{{m for m in re.findall(r'/\\S*lib(?:gomp|iomp5|omp)[-.]\\S*', open('/proc/self/maps').read())}})"],
        env={"PYTHONPATH": str(root / "python")}, capture_output=True, text=True, check=True).stdout.split()
    assert len(found) <= 1, found
