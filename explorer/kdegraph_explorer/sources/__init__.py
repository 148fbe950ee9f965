"""Where data come from. To add a source, write a module here and add its class to `SOURCES`."""

from .base import Source
from .contrast import Contrast
from .generators import Generators
from .painted import Painted
from .photographs import Photographs
from .upload import Upload

SOURCES = [Generators, Contrast, Painted, Photographs, Upload]

__all__ = ["SOURCES", "Source"]
