"""A simulated SGLang: own code, shaped like the real package where a profiler looks at it."""

from .version import __version__ as __version__
