"""What a part of the fuzzer has seen: outcomes, the slowest request, and findings."""

import contextlib
import time
from collections import Counter
from dataclasses import dataclass, field

#: No request may take longer; what is measured is the processor time of its thread.
MOST_CPU_SECONDS = 0.25
_SHOWN_CHARACTERS = 4000


@dataclass(frozen=True)
class Finding:
    """Something that must not happen, and the request that made it happen."""

    part: str
    kind: str
    reason: str
    request: str

    def __str__(self):
        return f"{self.part}: {self.kind}: {self.reason}\n    {self.request[:_SHOWN_CHARACTERS]}"


@dataclass
class Tally:
    """Counts of one part.

    Attributes:
        part: Its name.
        served: How often each operation was served.
        outcomes: How often requests ended how: ``ok``, or the code of a refusal.
        slowest_seconds: The most processor time that a request took.
        most_seconds: The most that one may take.
        findings: What must not happen and did, once for each reason.
    """

    part: str
    served: Counter = field(default_factory=Counter)
    outcomes: Counter = field(default_factory=Counter)
    slowest_seconds: float = 0.0
    most_seconds: float = MOST_CPU_SECONDS
    findings: dict = field(default_factory=dict)

    @property
    def requests(self):
        """How many requests were made."""
        return sum(self.outcomes.values())

    def find(self, kind, reason, request):
        """Note something that must not happen."""
        finding = Finding(self.part, kind, str(reason), repr(request))
        self.findings.setdefault((kind, str(reason)[:200]), finding)

    def escaped(self, failure, request):
        """Note an error that nobody may see, by its type and where it was raised."""
        trace = failure.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        self.outcomes["escaped"] += 1
        self.find("escaped", f"{type(failure).__name__} at {place}: {failure}"[:200], request)

    def time(self, seconds, request, again):
        """Note how long a request took; too long is a finding if it takes as long again."""
        if seconds > self.most_seconds:
            seconds = min(seconds, *(cpu_seconds(again) for _ in range(2)))
            if seconds > self.most_seconds:
                self.find("slow", f"{seconds:.2f} s for {str(request)[:60]}", request)
        self.slowest_seconds = max(self.slowest_seconds, seconds)


def cpu_seconds(function):
    """Return the processor time that a call takes, whatever it answers."""
    start = time.thread_time()
    with contextlib.suppress(Exception):  # it was judged when it was called first
        function()
    return time.thread_time() - start
