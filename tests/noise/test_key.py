import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest

from lumberjack_spark.noise import NoiseKey

SECRET = bytes(range(100, 132))


def first_words(key):
    return key.stream("test", 3).take(8).tolist()


def shows_secret(text, secret):
    shown = [secret.hex(), secret.hex().upper(), str(secret), str(list(secret)), secret[:6].hex()]
    return any(part in text for part in [*shown, secret.decode("latin-1")])


@pytest.mark.parametrize("write", [repr, str, format, "{}".format, "%s".__mod__, "{!r}".format])
def test_no_way_of_writing_a_key_shows_it(write):
    key = NoiseKey.injected(SECRET)
    for holder in (key, [key], {"key": key}):
        if write is not format or holder is key:
            assert not shows_secret(write(holder), SECRET)
    assert not shows_secret(write(key.stream("test")), SECRET)


def test_the_secret_detector_can_fail():
    assert shows_secret(repr(SECRET), SECRET)
    assert shows_secret(json.dumps({"secret": SECRET.hex()}), SECRET)


def test_a_key_has_no_serialised_form_but_pickle():
    key = NoiseKey.injected(SECRET)
    holder = dataclasses.make_dataclass("Holder", ["key"])(key)
    assert not shows_secret(repr(dataclasses.asdict(holder)), SECRET)
    with pytest.raises(TypeError):
        json.dumps(key)
    with pytest.raises(TypeError):
        dataclasses.asdict(key)
    with pytest.raises(TypeError):
        vars(key)
    assert not any(name.startswith("to_") for name in dir(key))


@pytest.mark.parametrize("key", [NoiseKey.fresh(), NoiseKey.injected(SECRET)])
def test_a_pickled_or_copied_key_draws_the_same_noise(key):
    for other in (pickle.loads(pickle.dumps(key)), copy.deepcopy(key)):  # noqa: S301
        assert first_words(other) == first_words(key)
        assert other.private == key.private


def test_fresh_keys_are_private_and_differ():
    keys = [NoiseKey.fresh() for _ in range(50)]
    assert all(key.private for key in keys)
    assert len({tuple(first_words(key)) for key in keys}) == 50


def test_injected_keys_are_not_private_and_repeat():
    assert not NoiseKey.injected(SECRET).private
    assert first_words(NoiseKey.injected(SECRET)) == first_words(NoiseKey.injected(SECRET))
    assert first_words(NoiseKey.injected(SECRET)) != first_words(NoiseKey.injected(bytes(32)))


def test_private_cannot_be_claimed():
    with pytest.raises(AttributeError):
        NoiseKey.injected(SECRET).private = True


@pytest.mark.parametrize("secret", [SECRET[:31], SECRET + b"x", b"", SECRET.hex(), 7, None])
def test_a_secret_of_another_length_is_refused_without_showing_it(secret):
    with pytest.raises(ValueError, match="secret must be exactly 32 bytes") as refusal:
        NoiseKey.injected(secret)
    assert not shows_secret(str(refusal.value), SECRET[:31])


def test_a_key_is_made_by_name_only():
    with pytest.raises(TypeError, match=r"NoiseKey.fresh\(\)"):
        NoiseKey()


def test_every_bit_of_the_secret_matters():
    words = set()
    for bit in range(256):
        secret = (int.from_bytes(SECRET, "big") ^ 1 << bit).to_bytes(32, "big")
        words.add(tuple(first_words(NoiseKey.injected(secret))))
    assert len(words) == 256
    assert np.uint64 is NoiseKey.fresh().stream("test").take(1).dtype.type
