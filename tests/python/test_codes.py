import numpy as np
import pytest

import omnigram


def codebook(levels=1, size=32, dim=6, seed=0, **preprocess):
    codes = np.random.default_rng(seed).standard_normal((levels, size, dim), dtype=np.float32)
    return omnigram.Codebook("kmeans", "image", codes, preprocess)


def test_encoding_is_the_nearest_code():
    vectors = np.random.default_rng(1).standard_normal((500, 6), dtype=np.float32)
    with codebook() as book:
        distances = ((vectors[:, None].astype(np.float64) - book.codes[0][None]) ** 2).sum(-1)
        np.testing.assert_array_equal(book.encode(vectors)[:, 0], distances.argmin(1))
        with omnigram.Pool(2) as pool:
            np.testing.assert_array_equal(book.encode(vectors, pool), book.encode(vectors))
        np.testing.assert_array_equal(book.decode([3, 31]), book.codes[0][[3, 31]])


def test_what_is_not_finite_has_no_code():
    vectors = np.zeros((3, 6), np.float32)
    vectors[1, 2] = np.nan
    with codebook() as book:
        codes = book.encode(vectors)[:, 0]
        assert codes[1] == -1 and codes[0] >= 0
        np.testing.assert_array_equal(book.decode(codes)[1], np.zeros(6))


def test_the_file_carries_its_fingerprint(tmp_path):
    path = tmp_path / "book.safetensors"
    with codebook(patch=8) as book:
        book.save(path)
        with omnigram.Codebook.load(path) as again:
            assert again.fingerprint == book.fingerprint and again.preprocess == {"patch": 8}
            assert (again.modality, again.quantizer, again.size, again.dim) == ("image", "kmeans", 32, 6)
            np.testing.assert_array_equal(again.codes, book.codes)
    with codebook(patch=16) as other, codebook(patch=8, seed=1) as third:
        assert len({other.fingerprint, third.fingerprint, again_fingerprint(path)}) == 3
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(omnigram.FormatError, match="fingerprint"):
        omnigram.Codebook.load(path)


def again_fingerprint(path):
    with omnigram.Codebook.load(path) as book:
        return book.fingerprint


def test_faults_are_named():
    with codebook() as book:
        with pytest.raises(omnigram.InvalidError, match="32"):
            book.decode([32])
        with pytest.raises(ValueError, match="5 values"):
            book.encode(np.zeros((2, 5), np.float32))


def test_tokenizer_gives_back_what_it_was_given(tmp_path):
    texts = [f"a {colour} {thing} with {n} corners" for colour in ("red", "blue", "grün") for thing in ("star", "Kreis", "square")
             for n in range(9)]
    with omnigram.Tokenizer.train(texts, 340, tmp_path / "a.model") as tokenizer:
        assert tokenizer.vocab == 340
        for text in texts:
            ids = tokenizer.encode(text)
            assert ids.dtype == np.int32 and (0 <= ids).all() and (ids < 340).all() and tokenizer.decode(ids) == text
        with omnigram.Tokenizer.train(texts, 340, tmp_path / "b.model") as same:
            assert same.fingerprint == tokenizer.fingerprint
        with pytest.raises(omnigram.InvalidError, match="340"):
            tokenizer.decode([340])
    with pytest.raises(omnigram.OmnigramError, match="nowhere"):
        omnigram.Tokenizer(tmp_path / "nowhere.model")
