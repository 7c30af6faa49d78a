"""What is wrong with a model file, and where."""


class ModelFileError(ValueError):
    """A model file that cannot be read, or a model that no file can hold.

    Attributes
    ----------
    place : str
        Where the fault is, such as ``learners.stump.feature[3]``; empty for the whole file.
    reason : str
    """

    def __init__(self, reason: str, place: str = "", about: str = "") -> None:
        super().__init__(": ".join(part for part in (about, place, reason) if part))
        self.reason, self.place = reason, place

    def inside(self, step: str) -> "ModelFileError":
        """Return the same fault, seen from around the value `step`: a key, or an index [3]."""
        dot = "." if self.place and not self.place.startswith("[") else ""
        return ModelFileError(self.reason, f"{step}{dot}{self.place}")

    def about(self, what: str) -> "ModelFileError":
        """Return the same fault with what it is about, such as the name of the file."""
        return ModelFileError(self.reason, self.place, what)


def require(holds: bool, place: str, reason: str) -> None:
    """Refuse a document in which something at a place does not hold."""
    if not holds:
        raise ModelFileError(reason, place)


def shown(value: object) -> str:
    """Return a value as a message shows it, which is never long."""
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."
