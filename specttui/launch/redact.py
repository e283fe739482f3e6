"""Take the secrets out of a launch, and reduce its environment to what matters, before anyone sees it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from specttui.errors import LaunchError
from specttui.events import Launch
from specttui.launch.argv import parse
from specttui.launch.flags import canonical
from specttui.launch.secret_shapes import HIDDEN, hide_shapes

_RELEVANT_PREFIXES = (
    "NCCL_", "SGLANG_", "SGL_", "CUDA_", "TORCH_", "PYTORCH_", "HF_", "VLLM_", "FLASHINFER_", "TRITON_",
    "OMP_", "SIMULATE_ACC_",
)  # fmt: skip
_RELEVANT_NAMES = frozenset({"PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH"})

_SECRET_FLAG_ENDS = frozenset({"key", "token", "secret", "password", "passwd", "passphrase", "credentials"})
_SECRET_WORDS = frozenset(
    {
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "APIKEY",
        "AUTHORIZATION",
    }
)
_SECRET_ENDS = _SECRET_WORDS | {"KEY", "PAT"}
#: Tuning variables whose names speak of tokens that are no secrets.
_TOKEN_IS_A_COUNT = ("SGLANG_", "SGL_", "NCCL_", "VLLM_", "FLASHINFER_", "TRITON_", "TOKENIZERS_")
#: A secret this short may well occur by chance inside another word, so it is only hidden where it stands.
_SHORTEST_SECRET = 8

#: A secret flag or variable inside a longer text, such as the argument of `bash -c`.
_FLAG_IN_TEXT = re.compile(
    r"(--[\w-]*(?:key|token|secret|password|passwd)(?:=|\s+))(\"[^\"]*\"|'[^']*'|[^\s\"';]+)"
)
_VARIABLE_IN_TEXT = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)=(\"[^\"]*\"|'[^']*'|[^\s\"';&]+)")


def relevant_env(env: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """The variables that may matter to a server's speed or start, sorted by name; values untouched.

    Args:
        env: A process's environment.
        keep: Further names to keep, for instance variables that the user changed.
    """
    return {
        name: env[name]
        for name in sorted(env)
        if name.startswith(_RELEVANT_PREFIXES) or name in _RELEVANT_NAMES or name in keep
    }


def redact(launch: Launch, keep: Collection[str] = ()) -> Launch:
    """The launch without secrets and with only the variables that matter: fit for events and reports.

    Hidden are values of secret flags and variables, wherever else they occur too; passwords and tokens in
    URLs and JSON; and what has the shape of a well-known token.

    Args:
        launch: The launch as it runs. Its command need not be readable by us.
        keep: Names of further variables to keep.
    """
    known = secret_values(launch)
    start = _arguments_start(launch)
    argv = tuple(
        hide_in_text(token, known if index >= start else ())
        for index, token in enumerate(_without_flag_values(launch.argv))
    )
    env = {
        name: HIDDEN if is_secret_variable(name) and value else hide_in_text(value, known)
        for name, value in relevant_env(launch.env, keep).items()
    }
    return launch.model_copy(update={"argv": argv, "env": env})


def is_secret_flag(name: str) -> bool:
    """True for a flag whose last word says that its value is a secret: `--api-key`."""
    return canonical(name).lower().rsplit("-", 1)[-1] in _SECRET_FLAG_ENDS and name.startswith("--")


def is_secret_variable(name: str) -> bool:
    """True for an environment variable whose value is a secret."""
    if not name.isidentifier():
        return False
    upper = name.upper()
    words = upper.split("_")
    if (
        words[-1] in _SECRET_ENDS
        or _SECRET_WORDS & set(words)
        or "API_KEY" in upper
        or upper.startswith("AWS_")
    ):
        return True
    return "TOKEN" in upper and not upper.startswith(_TOKEN_IS_A_COUNT)


def _arguments_start(launch: Launch) -> int:
    """Where SGLang's arguments begin: a weak key ("launch_server") must not hide the entry point."""
    try:
        return len(parse(launch.argv).prefix)
    except LaunchError:
        return 0


def secret_values(launch: Launch) -> tuple[str, ...]:
    """The secrets of a launch themselves, longest first, to find them where they are repeated.

    Short ones are left out: they occur by chance inside other words.
    """
    found = {value for name, value in launch.env.items() if is_secret_variable(name)}
    for token, following in zip(launch.argv, (*launch.argv[1:], ""), strict=True):
        name, equals, value = token.partition("=")
        if is_secret_flag(name):
            found.add(value if equals else following)
        elif equals and is_secret_variable(name):
            found.add(value)
    return tuple(sorted((text for text in found if len(text) >= _SHORTEST_SECRET), key=len, reverse=True))


def _without_flag_values(argv: Sequence[str]) -> list[str]:
    hidden: list[str] = []
    follows = False
    for token in argv:
        name, equals, _ = token.partition("=")
        secret = is_secret_flag(name) or bool(equals and is_secret_variable(name))
        hidden.append(HIDDEN if follows else f"{name}={HIDDEN}" if secret and equals else token)
        follows = secret and not equals and not follows
    return hidden


def hide_in_text(text: str, known: Sequence[str] = ()) -> str:
    """A text without the secrets that can be told by their shape or surroundings, and without known ones."""
    for secret in known:
        text = text.replace(secret, HIDDEN)
    text = _FLAG_IN_TEXT.sub(_hide_flag, text)
    text = _VARIABLE_IN_TEXT.sub(_hide_variable, text)
    return hide_shapes(text)


def _hide_flag(found: re.Match[str]) -> str:
    name = found[1].rstrip("= \t\n")
    return f"{found[1]}{HIDDEN}" if is_secret_flag(name) else found[0]


def _hide_variable(found: re.Match[str]) -> str:
    return f"{found[1]}={HIDDEN}" if is_secret_variable(found[1]) else found[0]
