"""Small pictures and sounds, written byte by byte."""

import struct
import wave
import zlib
from pathlib import Path


def png(path: Path, shade: int, claims=(16, 16)):
    """16 x 16 pixels, whatever the header claims."""
    rows = b"".join(b"\0" + bytes((shade + x * y, x, y)[i % 3] % 256 for x in range(16) for i in range(3)) for y in range(16))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", *claims, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks))


def sound(path: Path, pitch: int):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(b"".join(struct.pack("<h", (t * pitch % 200 - 100) * 100) for t in range(4000)))
