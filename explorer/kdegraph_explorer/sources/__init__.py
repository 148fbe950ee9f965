"""Load points. To add a source, write a module here and add its class to `SOURCES`."""

from .base import Source
from .generators import Contrast, Generators, Photographs
from .painted import Painted
from .upload import Upload

SOURCES = [Generators, Contrast, Painted, Photographs, Upload]

__all__ = ["SOURCES", "Source"]
