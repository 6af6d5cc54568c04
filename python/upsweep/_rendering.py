"""Images of circles."""

from __future__ import annotations

from typing import Any

import numpy as np

from upsweep import _core
from upsweep._arrays import library_of


def render(
    circles: Any,
    /,
    width: int = 1024,
    height: int = 1024,
    *,
    region: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    background: tuple[float, float, float] = (1.0, 1.0, 1.0),
    channels: str = "rgba",
    shading: str = "flat",
    eps: float = 0.0,
    pil: bool = False,
    rung: str = "",
) -> Any:
    """Draws semi-transparent circles in order, and returns the image, float32, of shape (height, width, channels). With
    pil=True, returns a Pillow image with 8 bits per channel, for which "rgba" or "rgb" are clipped to [0, 1].

    `circles` has shape (n, 8), float32: x, y, z, radius, red, green, blue and alpha of each circle. `region` is the
    tuple (x0, y0, x1, y1): the left edge, the edge at row 0, the right edge, and the edge past the last row. A circle
    covers the pixels whose centres lie in or on it. `channels` is "rgba": the colour and 1; "rgbw": the colour and the
    coverage; or "rgb". With shading="snow", alpha and colour vary towards a circle's rim. Images have the same bits on
    every device, as if the circles were drawn one by one, unless `eps` permits an error relative to the largest colour.

    >>> image = render(np.array([[0.5, 0.5, 0, 0.4, 1, 0, 0, 0.5]], np.float32), 3, 3)
    >>> print(image[:, :, 1])
    [[1.  0.5 1. ]
     [0.5 0.5 0.5]
     [1.  0.5 1. ]]
    """
    x0, y0, x1, y1 = map(float, region)
    red, green, blue = map(float, background)
    picture = {
        "width": width,
        "height": height,
        "x0": x0,
        "y0": y0,
        "x1": x1,
        "y1": y1,
        "red": red,
        "green": green,
        "blue": blue,
        "channels": channels,
        "shading": shading,
        "eps": float(eps),
    }
    image = _core.render(circles, picture, rung)
    if not pil:
        return image
    if channels == "rgbw":
        raise ValueError("pil is for rgba and rgb: coverage is no alpha of Pillow's")
    from PIL import Image

    pixels = library_of(type(image)).download(image)
    return Image.fromarray(np.rint(pixels.clip(0, 1) * 255).astype(np.uint8))
