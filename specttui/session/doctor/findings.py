"""What an examination found: one line per step, each with a word and, where it failed, a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from specttui.errors import SpecttuiError

#: ok works; info is neither good nor bad; warn works with a drawback; fail does not work.
Status = Literal["ok", "info", "warn", "fail"]

_STEP_WIDTH = 18


@dataclass(frozen=True, slots=True)
class Finding:
    """One step's outcome. `remedy` says what to do; every warning and failure has one."""

    step: str
    status: Status
    detail: str
    remedy: str = ""


class Findings:
    """Findings as they come."""

    def __init__(self) -> None:
        self.all: list[Finding] = []

    def ok(self, step: str, detail: str) -> None:
        """A step that works."""
        self.all.append(Finding(step, "ok", detail))

    def info(self, step: str, detail: str) -> None:
        """Something worth knowing."""
        self.all.append(Finding(step, "info", detail))

    def warn(self, step: str, detail: str, remedy: str) -> None:
        """A step that works with a drawback."""
        self.all.append(Finding(step, "warn", detail, remedy))

    def fail(self, step: str, detail: str, remedy: str) -> None:
        """A step that does not work."""
        self.all.append(Finding(step, "fail", detail, remedy))

    def failed(self, step: str, error: SpecttuiError) -> None:
        """A step that ended in an error of ours."""
        detail = f"{error.title}. {error.cause}" if error.cause else error.title
        self.fail(step, detail, error.remedy or "Try it by hand on the host.")

    @contextmanager
    def trying(self, step: str) -> Iterator[None]:
        """A step whose errors become a failure."""
        try:
            yield
        except SpecttuiError as error:
            self.failed(step, error)


@dataclass(frozen=True, slots=True)
class Examination:
    """All findings of a host, in order."""

    host: str
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """True when nothing failed."""
        return all(finding.status != "fail" for finding in self.findings)

    def as_text(self) -> str:
        """For a reader: a line per step, remedies beneath, the sum at the end."""
        lines = [self.host]
        for finding in self.findings:
            first, *more = finding.detail.splitlines() or [""]
            lines.append(f"  {finding.status:<5} {finding.step:<{_STEP_WIDTH}} {first}".rstrip())
            lines += [f"{'':<{_STEP_WIDTH + 9}}{line}" for line in more]
            if finding.remedy:
                lines.append(f"        What to do: {finding.remedy}")
        counts = [(self._count(status), status) for status in ("ok", "warn", "fail")]
        lines.append(", ".join(f"{count} {status}" for count, status in counts))
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        """As JSON-ready data."""
        steps = [asdict(finding) for finding in self.findings]
        return {"host": self.host, "healthy": self.healthy, "steps": steps}

    def _count(self, status: str) -> int:
        return sum(finding.status == status for finding in self.findings)
