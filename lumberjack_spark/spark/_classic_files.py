"""What only a classic session can tell or do about files; each has an answer for Connect too."""

from typing import Any

from pyspark.sql import SparkSession


def local_path(session: SparkSession | None, path: str) -> str | None:
    """The path on this machine's own disk, None if the session keeps the path elsewhere.

    Args:
        session: the session that would read or write the path; None if there is none.
        path: with or without a scheme. On Connect paths are the server's.
    """
    scheme, _, rest = path.partition(":")
    has_scheme = bool(rest) and len(scheme) > 1 and "/" not in scheme
    if has_scheme and scheme != "file":
        return None
    plain = "/" + rest.lstrip("/") if has_scheme else path
    if session is None:
        return plain
    try:
        context: Any = session.sparkContext
    except Exception:  # Connect raises its own error types
        return None
    if has_scheme:
        return plain
    default = context._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///")
    return plain if str(default).startswith("file:") else None


def remove_folder(session: SparkSession, path: str) -> bool:
    """Remove a folder wherever it is kept; False where the session cannot."""
    try:
        context: Any = session.sparkContext
        folder = context._jvm.org.apache.hadoop.fs.Path(path)
        system = folder.getFileSystem(context._jsc.hadoopConfiguration())
        system.delete(folder, True)
    except Exception:  # Connect raises its own error types
        return _removed_by_server(path)
    return True


def _removed_by_server(path: str) -> bool:
    """Whether the server of a Connect session removed a folder; releases differ in this."""
    try:
        from pyspark.ml.connect.readwrite import RemoteMLWriter

        RemoteMLWriter.handleOverwrite(path, True)
    except Exception:
        return False
    return True
