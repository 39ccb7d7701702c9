"""The exceptions that a caller may want to handle.

Every message says which name is wrong, what rule it breaks and what to do. Messages speak of
declarations only: never of a row, a value found in data, or a count.
"""


class LumberjackError(Exception):
    """Base class of all errors raised on purpose by this package."""


class SchemaError(LumberjackError, ValueError):
    """A declaration is wrong, or a table does not fit it; lists all mistakes at once."""


class BudgetError(LumberjackError, ValueError):
    """A privacy budget is not usable: out of range, or too small to plan anything safe with."""


class ModelFormatError(LumberjackError, ValueError):
    """A path does not hold a model that this version can read."""


class SparkFailureError(LumberjackError, RuntimeError):
    """A Spark job failed; the message carries the kind of failure and no content of rows."""
