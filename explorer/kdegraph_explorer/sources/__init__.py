"""Where data come from. To add a source: a module here, and its class in `SOURCES`."""

from .base import Source
from .generators import Generators
from .painted import Painted
from .photographs import Photographs
from .upload import Upload

SOURCES = [Generators, Painted, Photographs, Upload]

__all__ = ["SOURCES", "Source"]
