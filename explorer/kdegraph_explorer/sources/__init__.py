"""Where data come from. To add a source, write a module here and add its class to `SOURCES`."""

from .base import Source
from .generators import Generators
from .painted import Painted
from .photographs import Photographs
from .upload import Upload

SOURCES = [Generators, Painted, Photographs, Upload]

__all__ = ["SOURCES", "Source"]
