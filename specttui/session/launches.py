"""The launches of a session: what runs, what ran last and well, where speculation comes back from. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from specttui.errors import LaunchError
from specttui.events import Launch
from specttui.launch import apply, describe, label, spec_settings, speculation_edits
from specttui.launch.edits import Edit, LaunchDiff, SetFlag
from specttui.launch.flags import is_speculative

Config = Mapping[str, object]


@dataclass(slots=True)
class Launches:
    """Full launches, secrets included: they never leave the session but for the host.

    Attributes:
        current: What runs, or ran last.
        original: What ran when the session met the server; labels name differences from it.
        last_good: The last launch whose server became ready.
        speculative: The last launch with speculation, from which it comes back after a baseline.
        config: The values of the launch's `--config` file.
        sglang_version: Decides on some of the diff's warnings.
    """

    current: Launch | None = None
    original: Launch | None = None
    last_good: Launch | None = None
    speculative: Launch | None = None
    config: Config | None = None
    sglang_version: str = ""

    def found(self, launch: Launch, config: Config | None, sglang_version: str) -> None:
        """A running server was met: it is what runs, and it is good."""
        self.config, self.sglang_version = config, sglang_version
        self.original = self.original or launch
        self.serves(launch)

    def serves(self, launch: Launch) -> None:
        """This launch's server is ready."""
        self.current = self.last_good = launch
        self._remember_speculation(launch)

    def started(self, launch: Launch) -> None:
        """This launch was started; whether it becomes ready is still open."""
        self.current = launch

    @property
    def can_roll_back(self) -> bool:
        """True when the last good launch is not what runs or ran last."""
        return self.last_good is not None and self.last_good != self.current

    def label_of(self, launch: Launch) -> str:
        """The launch's short name, as a difference from the original one."""
        return label(launch, self.original, self.config)

    def edited(self, edits: Sequence[Edit], ours: Sequence[Edit] = ()) -> LaunchDiff:
        """What these edits make of the current launch.

        Args:
            edits: The user's.
            ours: What the probe needs besides; shown in the diff, left out of the label.

        Speculative flags edited while the baseline runs bring the last speculation back first, so that
        "steps 2" after a baseline means what it says.

        Raises:
            LaunchError: No launch is known, or the edits cannot be applied.
        """
        before, after = self._current(), self.result_of(edits, ours)
        diff = describe(before, after, sglang_version=self.sglang_version, config=self.config)
        return replace(diff, label=self.label_of(self.result_of(edits)))

    def result_of(self, edits: Sequence[Edit], ours: Sequence[Edit] = ()) -> Launch:
        """The full launch that these edits make; see `edited`."""
        return apply(self._current(), (*self._speculation_for(edits), *edits, *ours), self.config)

    def _current(self) -> Launch:
        if self.current is None:
            raise LaunchError(
                "No server's launch is known",
                remedy="Connect to a host on which an SGLang server runs.",
            )
        return self.current

    def _speculation_for(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        wanted = any(isinstance(edit, SetFlag) and is_speculative(edit.name) for edit in edits)
        if not wanted or self.current is None or self.speculative is None:
            return ()
        if not spec_settings(self.current, self.config).is_baseline:
            return ()
        return speculation_edits(self.speculative, self.config)

    def _remember_speculation(self, launch: Launch) -> None:
        if not spec_settings(launch, self.config).is_baseline:
            self.speculative = launch
