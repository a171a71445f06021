"""Node classification with learned shortcuts between distant nodes."""

__version__ = "0.1.0"
