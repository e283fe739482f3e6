"""What a session knows that speaks for or against a restart: bad values, missing files, starts that hung."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from specttui.errors import LaunchError
from specttui.events import Launch, Manager
from specttui.host.found import Problem
from specttui.host.managers.choose import Ways
from specttui.host.remote import Remote
from specttui.launch import Communication, communication, draft_memory_hint, env_paths, relevant_env
from specttui.launch.edits import LaunchDiff
from specttui.session.launches import Launches

_OR_COMMANDS = "Or give the host's profile its own stop and start commands (docs/restarting.md)."
_HUNG = "Still hung last time: "
_UNREADABLE = 'for file; do [ -r "$file" ] || printf "%s\\0" "$file"; done'

#: A launch to the letter, as far as it decides whether a start hangs.
_Exact = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class _Hung:
    """A start that hung: what was blamed, or the whole launch where the last good one talks alike."""

    blamed: Communication | _Exact


class RestartAdvice:
    """Advises on restarts, and refuses those that would waste ten minutes.

    Args:
        remote: The host.
        launches: Knows what ran well.
        ways: Knows how each manager's servers are restarted.
        obstacles: What keeps the server that was met last from being restarted.
    """

    def __init__(
        self,
        remote: Remote,
        launches: Launches,
        ways: Ways,
        obstacles: Callable[[], Sequence[Problem]] = tuple,
    ) -> None:
        self._remote = remote
        self._launches = launches
        self._ways = ways
        self._obstacles = obstacles
        self._hung: list[_Hung] = []
        self._draft_did_not_fit = False

    def of(self, diff: LaunchDiff, manager: Manager) -> LaunchDiff:
        """A restart's diff with what this session knows besides.

        Args:
            diff: The diff.
            manager: Who manages the server.
        """
        managed = self._ways.refusal(manager)
        refusals = [str(problem) for problem in self._standing()] + ([managed] if managed else [])
        warnings = [*self._hung_words(diff.after), *self._draft_words(diff.after), *diff.warnings]
        return replace(
            diff,
            errors=(*diff.errors, *refusals),
            warnings=tuple(warnings),
            notes=(*diff.notes, *self._ways.words(manager)),
        )

    async def check(self, diff: LaunchDiff, *, retry_hung: bool) -> None:
        """Refuse what cannot work, before anything is stopped.

        Args:
            diff: The restart's own diff, without this session's advice.
            retry_hung: Start a combination all the same that hung before: the user was told.

        Raises:
            LaunchError: The server cannot be restarted, a value is bad, a file is not on the host, or the
                combination hung last time.
        """
        self.check_known()
        if diff.errors:
            raise LaunchError(
                "These settings would not work",
                cause="\n".join(diff.errors),
                remedy="Change them as said; the server was not touched.",
            )
        await self._check_files(diff)
        hung = self._hung_words(diff.after)
        if hung and not retry_hung:
            raise LaunchError(
                "This combination hung when it was started last time",
                cause=hung[0],
                remedy="Change its NCCL settings, or start it from the restart dialog (r) all the same.",
            )

    def check_known(self) -> None:
        """Refuse any restart of a server of which not all is known that a start needs.

        Raises:
            LaunchError: It is such a server, and the profile has no command of its own to start it.
        """
        standing = self._standing()
        if standing:
            raise LaunchError(
                "This server cannot be restarted from here",
                cause="\n".join(problem.text for problem in standing),
                remedy=f"{standing[0].remedy} {_OR_COMMANDS}",
            )

    def _standing(self) -> Sequence[Problem]:
        return () if self._ways.starts_by_command else self._obstacles()

    async def _check_files(self, diff: LaunchDiff) -> None:
        """Files that NCCL is to read must be there; a server that lacks one dies or ignores it."""
        before, after = env_paths(diff.before.env), env_paths(diff.after.env)
        named = {name: path for name, path in after.items() if before.get(name) != path}
        if not named:
            return
        result = await self._remote.run(["sh", "-c", _UNREADABLE, "sh", *named.values()], check=True)
        missing = {path.decode("utf-8", "replace") for path in result.stdout.split(b"\0") if path}
        bad = [f"{name}={path}" for name, path in named.items() if path in missing]
        if bad:
            raise LaunchError(
                "A file that NCCL is to read is not on the host",
                cause="\n".join(bad),
                remedy="Give a path that exists on the host and that its server may read.",
            )

    def failed(self, launch: Launch, category: str) -> None:
        """A start failed; what it teaches is remembered for this session.

        Args:
            launch: What was started.
            category: Its diagnosis.
        """
        if category == "hung":
            self._hung.append(_Hung(self._blame(launch)))
        elif category == "oom_draft":
            self._draft_did_not_fit = True

    def _blame(self, launch: Launch) -> Communication | _Exact:
        good, config = self._launches.last_good, self._launches.config
        talk = communication(launch, config)
        return talk if good is None or communication(good, config) != talk else _exact(launch)

    def _hung_words(self, launch: Launch) -> tuple[str, ...]:
        talk = communication(launch, self._launches.config)
        for hung in self._hung:
            if hung.blamed == talk:
                return (f"{_HUNG}{talk}",)
            if hung.blamed == _exact(launch):
                return (f"{_HUNG}exactly this launch",)
        return ()

    def _draft_words(self, launch: Launch) -> tuple[str, ...]:
        if not self._draft_did_not_fit:
            return ()
        hint = draft_memory_hint(launch, self._launches.sglang_version)
        return (f"Memory ran out while the draft model loaded: {hint}",) if hint else ()


def _exact(launch: Launch) -> _Exact:
    return launch.argv, tuple(relevant_env(launch.env).items())
