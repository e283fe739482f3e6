"""The one family of errors a user may meet: what happened, why, and what to do about it."""

from __future__ import annotations


class SpecttuiError(Exception):
    """Base of every error of ours.

    Args:
        title: What happened, in one line a user understands.
        cause: Why, as far as it is known; may hold remote text, so show it as plain text only.
        remedy: What the user can do next.
    """

    def __init__(self, title: str, *, cause: str = "", remedy: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        """All parts, one per line, for the command line."""
        lines = [self.title]
        if self.cause:
            lines.append(self.cause)
        if self.remedy:
            lines.append(f"What to do: {self.remedy}")
        return "\n".join(lines)


class UsageError(SpecttuiError):
    """The command line or a dialog holds a value that cannot be used."""


class ConfigError(SpecttuiError):
    """A settings file cannot be used; names the file and the key."""


class ConnectionFailedError(SpecttuiError):
    """The host cannot be reached or refuses us."""


class HostKeyUnknownError(ConnectionFailedError):
    """The host's key is in no known_hosts file and the user did not accept it."""


class HostKeyChangedError(ConnectionFailedError):
    """The host's key differs from the one on record: refused, never overridden by a key press."""


class ConnectionLostError(SpecttuiError):
    """The connection broke during an operation; the operation's outcome is stated in the cause."""


class RemoteCommandError(SpecttuiError):
    """A remote command could not be run, or failed where success was needed."""


class ServerNotFoundError(SpecttuiError):
    """No SGLang server runs on the host, or the one asked for is gone."""


class ServerStartError(SpecttuiError):
    """A server did not come up; the cause holds the lines of its log that say why."""


class ServerManagedError(SpecttuiError):
    """A service manager owns the server: killing it would bring it back with the old arguments."""


class LaunchError(SpecttuiError):
    """A launch cannot be read or changed as asked."""


class WorkerFileError(SpecttuiError):
    """The worker file cannot be read, written or recognised; it was left as it was."""


class WorkerFileChangedError(WorkerFileError):
    """The worker file is not what we read before: somebody else changed it; nothing was written."""


class PatchError(WorkerFileError):
    """The probe cannot be put into, or taken out of, this source text."""


class RecordingError(SpecttuiError):
    """A session folder or recording cannot be read or written."""


class DemoError(SpecttuiError):
    """The demo host could not be set up."""
