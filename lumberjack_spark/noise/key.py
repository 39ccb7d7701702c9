"""The secret of one release: a 256-bit key from which all its noise is drawn.

Who holds the key can undo the noise, so it is as secret as the data: it travels inside task
closures to trusted executors and goes nowhere else.  One key serves one release on one data set:
the same key on other data or parameters would spend the same words on two counts, which is no
privacy at all.  A retried task meets the same key again and so repeats its noise; without that, two
attempts would be two noisy answers for one charge.
"""

from __future__ import annotations

import secrets

from lumberjack_spark.noise.stream import WordStream

KEY_BYTES = 32


class NoiseKey:
    """A noise key; made by `fresh` for a release, by `injected` for tests alone.

    Deliberately not a dataclass, without `__dict__` and without value equality: `repr`, `vars`,
    `asdict` and JSON never show the secret.  It pickles, since tasks need it.
    """

    __slots__ = ("_private", "_secret")
    _private: bool
    _secret: bytes

    def __init__(self) -> None:
        raise TypeError("NoiseKey must be made by NoiseKey.fresh(), got a direct call")

    @classmethod
    def fresh(cls) -> NoiseKey:
        """Return a new key from the operating system's entropy.

        >>> NoiseKey.fresh().private
        True
        """
        return cls._restore(secrets.token_bytes(KEY_BYTES), True)

    @classmethod
    def injected(cls, secret: bytes) -> NoiseKey:
        """Return a key known to the caller, for tests; nothing drawn from it is private.

        Args:
            secret: exactly 32 bytes.

        Raises:
            ValueError: secret is not 32 bytes long; the message does not show it.

        >>> NoiseKey.injected(bytes(32)).private
        False
        """
        if not isinstance(secret, bytes) or len(secret) != KEY_BYTES:
            raise ValueError(f"secret must be exactly {KEY_BYTES} bytes, got something else")
        return cls._restore(secret, False)

    @classmethod
    def _restore(cls, secret: bytes, private: bool) -> NoiseKey:
        """Make a key from its parts."""
        key = object.__new__(cls)
        key._secret = secret
        key._private = private
        return key

    @property
    def private(self) -> bool:
        """Whether the key came from the operating system and nobody has seen it."""
        return self._private

    def stream(self, stage: str, *ids: int) -> WordStream:
        """Return the stream of words of one place where noise is drawn, from its beginning.

        Args:
            stage: what the noise is for; no two uses may share a stage and ids.
            ids: integers >= 0 that tell apart the streams of a stage, such as a tree.

        Raises:
            ValueError: stage is empty or an id is negative.
        """
        return WordStream(self._secret, stage, ids)

    def __repr__(self) -> str:
        return f"NoiseKey(<hidden>, private={self._private})"

    def __reduce__(self) -> tuple[object, tuple[bytes, bool]]:
        return NoiseKey._restore, (self._secret, self._private)
