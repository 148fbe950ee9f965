"""Pictures as addresses, which a page shows without asking for a file."""

import base64
import io

from PIL import Image


def png_address(pixels):
    """A picture as a data: address.

    Parameters
    ----------
    pixels : (height, width, 3 or 4) uint8 array
    """
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
