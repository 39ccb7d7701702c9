"""CPU time and peak memory of this driver, its JVM and the JVM's Python workers.

Units   seconds of CPU (user and system, threads and finished children included); bytes of resident
        memory. A forked worker's memory includes pages that it shares with its parent.
Peaks   on Linux the kernel's own high-water mark, set back at the start; elsewhere, and for
        processes that end meanwhile, the largest of samples taken every half second.
Idle    the least memory that this driver held at the start of any work measured so far: what a
        fit leaves in its allocator is not taken for idle in the next.
Other   child processes of the driver (see _bench_child) count for nothing here.
"""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

ROLES = ("driver", "jvm", "workers")
_SECONDS_BETWEEN_SAMPLES = 0.5


_idle_bytes: list[int] = []


@dataclass
class Measured:
    """What some work took.

    Attributes:
        wall_s: seconds by the clock.
        cpu_s: seconds of CPU by role, see ROLES.
        peak_bytes: by role; of all workers the largest single one; of the driver also what its
            peak is above an idle driver's memory ("driver_above_idle").
        result: what the work returned.
    """

    wall_s: float
    cpu_s: dict[str, float]
    peak_bytes: dict[str, int]
    result: Any = field(repr=False, default=None)

    @property
    def cpu_total_s(self) -> float:
        """Seconds of CPU of all roles."""
        return sum(self.cpu_s.values())

    def to_dict(self) -> dict[str, Any]:
        """JSON-able figures, without the result."""
        return {
            "wall_s": round(self.wall_s, 4),
            "cpu_s": {role: round(seconds, 3) for role, seconds in self.cpu_s.items()},
            "cpu_total_s": round(self.cpu_total_s, 3),
            "peak_bytes": self.peak_bytes,
        }


def measured(work: Callable[[], Any]) -> Measured:
    """Do some work and measure the processes of this driver meanwhile."""
    gc.collect()
    _idle_bytes.append(psutil.Process().memory_info().rss)
    watch = _PeakWatch()
    before = cpu_seconds()
    started = time.monotonic()
    with watch:
        result = work()
        wall = time.monotonic() - started
    after = cpu_seconds()
    # A worker that ended without its parent's notice would make a difference negative.
    cpu = {role: max(0.0, after[role] - before[role]) for role in ROLES}
    peaks = dict(watch.peaks)
    peaks["driver_above_idle"] = max(0, peaks["driver"] - min(_idle_bytes))
    return Measured(wall, cpu, peaks, result)


def cpu_seconds() -> dict[str, float]:
    """CPU seconds by role since the processes started."""
    seconds = dict.fromkeys(ROLES, 0.0)
    for role, process in _processes():
        with suppress(psutil.Error):
            times = process.cpu_times()
            seconds[role] += times.user + times.system
            if role != "driver":  # whose finished children are not Spark's
                seconds[role] += times.children_user + times.children_system
    return seconds


def _processes() -> Iterator[tuple[str, psutil.Process]]:
    """This process, its JVM, and the Python processes below that."""
    me = psutil.Process()
    yield "driver", me
    for child in me.children():
        with suppress(psutil.Error):
            if "java" not in child.name():
                continue
            yield "jvm", child
            for worker in child.children(recursive=True):
                with suppress(psutil.Error):
                    yield ("jvm" if "java" in worker.name() else "workers"), worker


class _PeakWatch:
    """Largest resident memory by role while the block runs."""

    def __init__(self) -> None:
        self.peaks = dict.fromkeys(ROLES, 0)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> "_PeakWatch":
        for _, process in _processes():
            with suppress(OSError), open(f"/proc/{process.pid}/clear_refs", "w") as file:
                file.write("5")  # sets the high-water mark back
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._look(marks=True)

    def _sample(self) -> None:
        while not self._done.wait(_SECONDS_BETWEEN_SAMPLES):
            self._look(marks=False)

    def _look(self, *, marks: bool) -> None:
        for role, process in _processes():
            with suppress(psutil.Error):
                now = process.memory_info().rss
                peak = max(now, _high_water(process.pid) if marks else 0)
                self.peaks[role] = max(self.peaks[role], peak)


def _high_water(pid: int) -> int:
    """The kernel's high-water mark of a process in bytes; 0 where there is none."""
    with suppress(OSError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
