#!/usr/bin/env python3
"""Writes the seeds of the image corpus: small files for each format and pixel type, and for each mistake that the
readers report. Usage: make_image_seeds.py FOLDER. fuzz_image found the rest of the corpus. Needs Pillow."""
import io
import pathlib
import struct
import sys
import zlib

from PIL import Image


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(colour, bits, channels, interlace=0, extra=b"", width=5, height=3):
    row = (width * channels * bits + 7) // 8
    rows = b"".join(bytes([k % 5]) + bytes((k + i) % 256 for i in range(row)) for k in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlace))
            + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def jpeg(mode, size=(17, 9), **options):
    image = Image.new(mode, size)
    bands = len(image.getbands())
    pixels = [tuple((7 * i + 40 * k) % 256 for k in range(bands)) for i in range(size[0] * size[1])]
    image.putdata([p[0] for p in pixels] if bands == 1 else pixels)
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()


palette = chunk(b"PLTE", bytes(range(12)))
seeds = {
    "png_grey": png(0, 8, 1), "png_grey_1": png(0, 1, 1), "png_grey_2": png(0, 2, 1), "png_grey_4": png(0, 4, 1),
    "png_grey_16": png(0, 16, 1), "png_rgb": png(2, 8, 3), "png_rgb_16": png(2, 16, 3), "png_grey_alpha": png(4, 8, 2),
    "png_rgba": png(6, 8, 4), "png_palette": png(3, 2, 1, extra=palette),
    "png_palette_alpha": png(3, 2, 1, extra=palette + chunk(b"tRNS", b"\0\x7f")),
    "png_transparent": png(2, 8, 3, extra=chunk(b"tRNS", b"\0\0\0\1\0\2")),
    "png_interlaced": png(2, 8, 3, 1), "png_text": png(0, 8, 1, extra=chunk(b"tEXt", b"Title\0\x1b[2J")),
    "png_huge": png(6, 16, 4, 1, width=0x7fffffff, height=0)[:8]
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 0x7fffffff, 0x7fffffff, 16, 6, 0, 0, 1)),
    "png_cut": png(2, 8, 3)[:60], "png_no_data": png(0, 8, 1)[:33] + chunk(b"IEND", b""),
    "jpeg_grey": jpeg("L"), "jpeg_rgb": jpeg("RGB"), "jpeg_cmyk": jpeg("CMYK"), "jpeg_444": jpeg("RGB", subsampling=0),
    "jpeg_progressive": jpeg("RGB", progressive=True), "jpeg_restarts": jpeg("L", restart_marker_blocks=1),
    "jpeg_cut": jpeg("RGB")[:-40], "jpeg_no_end": jpeg("L")[:-2], "jpeg_comment": jpeg("L", comment=b"\x1b[2J"),
    "pgm": b"P5\n# a comment\n3 2 255\nabcdef", "ppm": b"P6 1 1 255\nabc", "pgm_16": b"P5 1 2 1023\nabcd",
    "pgm_cut": b"P5 3 3 255\nab", "pgm_text": b"P2 1 1 255\n7", "pgm_huge": b"P6 2147483647 2147483647 65535\n",
    "pgm_zero": b"P5 0 1 255\n", "pgm_more": b"P5 1 1 255\nabc"}

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, content in seeds.items():
    (folder / ("seed_" + name)).write_bytes(content)
