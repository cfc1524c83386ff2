import json
import subprocess
import wave

import numpy as np
import pytest

import omnigram
from omnigram.program import find_program


def prepare(tmp_path, *overrides):
    out = tmp_path / "prepared"
    subprocess.run([find_program(), "prepare", "--out", out, *overrides, "--json", tmp_path / "prepare.json"], check=True)
    return out, json.loads((tmp_path / "prepare.json").read_text())


def test_synthetic_documents(tmp_path):
    out, result = prepare(tmp_path, "--dataset.name=synthetic", "--dataset.documents=40")
    with omnigram.Prepared(out) as prepared:
        counts = {split: prepared.count(split) for split in omnigram.SPLITS}
        assert sum(counts.values()) == 40 and counts["train"] > counts["val"]
        unique = {}
        for split in omnigram.SPLITS:
            for document in prepared.documents(split):
                assert {item.modality for item in document.items} == {"text", "image", "audio"}
                for item in document.items:
                    if item.modality == "image":
                        assert item.value.dtype == np.uint8 and item.value.shape[2] == 3
                    if item.modality == "audio":
                        assert item.value.dtype == np.int16 and item.rate_hz == 16000
                    if item.unique in unique:  # equal numbers are equal media
                        np.testing.assert_array_equal(np.asarray(item.value), np.asarray(unique[item.unique]))
                    unique[item.unique] = item.value
        assert len(unique) == prepared.unique_items
        with pytest.raises(ValueError):
            prepared.count("trian")
        with pytest.raises(omnigram.InvalidError):
            prepared.document("train", counts["train"])
    assert result["counters"]["items"]["image"]["read"] == result["counters"]["items"]["image"]["kept"]


def test_patches_restore_the_picture():
    picture = np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8)
    image = omnigram.Modality("image", {"size": 96, "patch": 8})
    vectors = image.vectors(picture)
    assert vectors.shape == (12, 12, image.dim) and image.dim == 192
    np.testing.assert_array_equal(image.restore(vectors), picture)


def test_a_pure_tone_is_one_band(tmp_path):
    seconds, rate, tone = 1.0, 16000, 1000.0
    samples = (20000 * np.sin(2 * np.pi * tone * np.arange(int(seconds * rate)) / rate)).astype(np.int16)
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(rate), file.writeframes(samples.tobytes())
    audio = omnigram.Modality("audio", {"rate": 16000, "bands": 40, "frame_hz": 25})
    decoded = audio.decode((tmp_path / "tone.wav").read_bytes(), "tone.wav")
    np.testing.assert_array_equal(decoded, samples)
    vectors = audio.vectors(decoded, rate)
    assert vectors.shape[0] == 1 and vectors.shape[1] == pytest.approx(25, abs=1)
    spectrogram = audio.restore(vectors)
    assert spectrogram.shape[1] == 40
    middle = spectrogram[len(spectrogram) // 2]
    assert middle.argmax() == spectrogram[len(spectrogram) // 3].argmax() and middle.max() - np.median(middle) > 1


def test_bad_bytes_are_named():
    with pytest.raises(omnigram.OmnigramError, match="empty.png"):
        omnigram.Modality("image").decode(b"", "empty.png")
    with pytest.raises(omnigram.OmnigramError, match="noise.ogg"):
        omnigram.Modality("audio").decode(b"not a sound at all", "noise.ogg")
    with pytest.raises(omnigram.OmnigramError, match="no modality 'smell'"):
        omnigram.Modality("smell")
    with pytest.raises(omnigram.FileError):
        omnigram.Prepared("/nowhere/at/all")
