"""What may make a change void, or a measurement misleading: warnings before a ten-minute restart.

Facts on SGLang 0.4.1 to 0.5.23: which variables it sets itself, what deterministic mode forces, which rules
tie top-k to page size and attention backend.
"""

from __future__ import annotations

from specttui.events import Launch
from specttui.launch import flags
from specttui.launch.argv import CommandLine
from specttui.launch.nccl import Problem, env_meaning, validate_environment
from specttui.launch.settings import SPEC_V2_VARIABLE, Config, effective_command, parallelism, spec_settings
from specttui.launch.versions import at_least, at_most

_ALWAYS_SET = frozenset({"CUDA_DEVICE_MAX_CONNECTIONS"})
_OVERWRITTEN = frozenset({"NCCL_CUMEM_ENABLE", "NCCL_NVLS_ENABLE"})
_DETERMINISTIC = frozenset({"NCCL_ALGO", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS"})
#: World sizes that SGLang's custom all-reduce takes.
_CUSTOM_SIZES = frozenset({2, 4, 6, 8})
_SIMULATED = ("SGLANG_SIMULATE_ACC_LEN", "SIMULATE_ACC_LEN")
#: Variables of which some releases know nothing: newest release before them, oldest after them, what to use.
_KNOWN_BETWEEN = {
    SPEC_V2_VARIABLE: ((0, 5, 4), (0, 5, 14), f"{flags.BETA_SPEC} (0.5.3 and 0.5.4)", flags.NO_OVERLAP),
    "SGLANG_SIMULATE_ACC_LEN": ((0, 5, 2), None, "SIMULATE_ACC_LEN", ""),
    "SIMULATE_ACC_LEN": (None, (0, 5, 3), "", "SGLANG_SIMULATE_ACC_LEN"),
}


def warnings(
    before: Launch, after: Launch, *, config: Config | None = None, sglang_version: str = ""
) -> tuple[str, ...]:
    """What the user should know before running a changed launch.

    Args:
        before: The launch as it runs.
        after: The launch to be started.
        config: The values of its `--config` file, where known.
        sglang_version: The server's version; "" when unknown, then the cautious answer is given.

    Returns:
        Sentences, those that make a change void first.
    """
    changed = changed_variables(before, after)
    command = effective_command(after, config)
    found = [
        *_nccl_warnings(changed, after, command, config, sglang_version),
        *_unread_warnings(changed, command, sglang_version),
        *(told(problem) for problem in changed_problems(before, after) if problem.severity == "warn"),
        *_speculation_warnings(before, after, command, config, sglang_version),
        *_measurement_warnings(before, after, command, config),
    ]
    return tuple(dict.fromkeys(found))


def changed_variables(before: Launch, after: Launch) -> dict[str, str | None]:
    """The variables that differ, with their new value; None for one that was unset."""
    names = sorted(before.env.keys() | after.env.keys())
    return {name: after.env.get(name) for name in names if before.env.get(name) != after.env.get(name)}


def draft_memory_hint(launch: Launch, sglang_version: str) -> str:
    """What to try when memory runs out while the draft model loads; "" when nothing is known to help.

    SGLang 0.5.5 to 0.5.10 load some models twice with the synchronous worker, which is their default.
    """
    if launch.env.get(SPEC_V2_VARIABLE) == "1" or not at_least(sglang_version, (0, 5, 5)):
        return ""
    if not at_most(sglang_version, (0, 5, 10)):
        return ""
    return f"set {SPEC_V2_VARIABLE}=1: without it this release may load the model twice"


def changed_problems(before: Launch, after: Launch) -> list[Problem]:
    """What is wrong with the variables that differ; those that the server runs with already are its own."""
    changed = changed_variables(before, after).keys()
    return [problem for problem in validate_environment(after.env) if changed & set(problem.names)]


def told(problem: Problem) -> str:
    """A problem with its remedy, in one line."""
    return problem.text + (f" ({problem.remedy})" if problem.remedy else "")


def errors(before: Launch, after: Launch) -> tuple[str, ...]:
    """Values that a ten-minute restart would be wasted on, each with what to write instead."""
    found = (told(problem) for problem in changed_problems(before, after) if problem.severity == "refuse")
    return tuple(dict.fromkeys(found))


def meanings(before: Launch, after: Launch) -> tuple[str, ...]:
    """What NCCL makes of the values that differ, where that is not what they read like.

    For instance "NCCL_P2P_LEVEL 4 = SYS: between NUMA nodes".
    """
    changed = changed_variables(before, after).items()
    known = ((name, env_meaning(name, value)) for name, value in changed if value is not None)
    return tuple(f"{name} {meaning}" for name, meaning in known if meaning)


def _nccl_warnings(
    changed: dict[str, str | None], after: Launch, command: CommandLine, config: Config | None, version: str
) -> list[str]:
    nccl = {name for name in changed if name.startswith("NCCL_")}
    found = [
        f"SGLang sets {name} itself: the change is void" for name in sorted(_ALWAYS_SET & changed.keys())
    ]
    if not nccl:
        return found
    sizes = parallelism(after, config)
    if sizes.tensor == 1 and sizes.pipeline == 1:
        return [*found, "With tensor parallelism 1 nothing goes through NCCL: its settings are void"]
    found += _overwritten_warnings(nccl, command, version)
    found += _deterministic_warnings(nccl, command, version)
    if not command.has(flags.NO_CUSTOM_ALL_REDUCE) and sizes.tensor in _CUSTOM_SIZES:
        found.append(
            "Custom all-reduce is on: where the GPUs' links allow it, decode hardly uses NCCL "
            f"({flags.NO_CUSTOM_ALL_REDUCE} switches it off)"
        )
    return found


def _unread_warnings(changed: dict[str, str | None], command: CommandLine, version: str) -> list[str]:
    """Variables of speculation that this release, or a server without speculation, does not read."""
    found = []
    for name, (before, after, instead_before, instead_after) in _KNOWN_BETWEEN.items():
        value = changed.get(name)
        if value is None:
            continue
        if before and at_most(version, before):
            found.append(f"This release knows no {name}: the change is void; use {instead_before}")
        elif after and at_least(version, after):
            found.append(f"This release reads {name} no more: the change is void; use {instead_after}")
        elif not command.has(flags.ALGORITHM):
            found.append(f"Without speculation {name} has no effect")
        elif name == SPEC_V2_VARIABLE and value == "0" and at_least(version, (0, 5, 13)):
            found.append(f"SGLang 0.5.13 has the overlapped worker alone: {name}=0 only runs it in step")
    return found


def _overwritten_warnings(nccl: set[str], command: CommandLine, version: str) -> list[str]:
    touched = sorted(_OVERWRITTEN & nccl)
    if not touched:
        return []
    names = " and ".join(touched)
    use = f"use {flags.SYMM_MEM} or {flags.NCCL_NVLS}"
    if at_most(version, (0, 5, 4)):
        return [f"SGLang up to 0.5.4 overwrites {names}: {use}"]
    if command.has(flags.SYMM_MEM) or command.has(flags.NCCL_NVLS):
        return [f"{flags.SYMM_MEM} and {flags.NCCL_NVLS} override {names}"]
    return [] if version else [f"If this is SGLang 0.5.4 or older, it overwrites {names}: {use}"]


def _deterministic_warnings(nccl: set[str], command: CommandLine, version: str) -> list[str]:
    if not command.has(flags.DETERMINISTIC):
        return []
    forced = {"NCCL_ALGO"} if at_most(version, (0, 5, 17)) else set(_DETERMINISTIC)
    return [f"{flags.DETERMINISTIC} forces {name}: the change is void" for name in sorted(forced & nccl)]


def _speculation_warnings(
    before: Launch, after: Launch, command: CommandLine, config: Config | None, version: str
) -> list[str]:
    settings, found = spec_settings(after, config), []
    if settings.algorithm is None:
        if any(flags.is_speculative(option.name) for option in command.options):
            found.append(f"Speculative flags without {flags.ALGORITHM} have no effect")
        if config is None and command.has(flags.CONFIG) and spec_settings(before).algorithm:
            found.append(f"{command.value(flags.CONFIG)} may switch speculation on again: it was not read")
        return found
    if settings.algorithm == "DFLASH" and settings.num_steps not in {None, 1}:
        found.append("DFLASH drafts one block: SGLang sets steps and top-k to 1 whatever is asked")
    if settings.eagle_topk is not None and settings.eagle_topk > 1:
        found += _tree_warnings(command, settings.overlap, version)
    if command.has(flags.ADAPTIVE) and settings.num_steps != spec_settings(before, config).num_steps:
        found.append(f"{flags.ADAPTIVE} changes the steps while the server runs")
    return found


def _tree_warnings(command: CommandLine, overlap: bool | None, version: str) -> list[str]:
    found = []
    backend = command.value(flags.ATTENTION_BACKEND)
    allowed = {None, "flashinfer", "fa3"} | ({"triton"} if at_least(version, (0, 5, 13)) else set())
    if backend == "trtllm_mha":
        found.append("Attention backend trtllm_mha refuses top-k above 1: the server will not start")
    if command.value(flags.PAGE_SIZE) not in {None, "1"} and backend not in allowed:
        found.append(f"Top-k above 1 with page size {command.value(flags.PAGE_SIZE)} needs flashinfer or fa3")
    if overlap and at_most(version, (0, 5, 12)):
        found.append("Top-k above 1 runs in the synchronous worker (v1) only, up to SGLang 0.5.12")
    return found


def _measurement_warnings(
    before: Launch, after: Launch, command: CommandLine, config: Config | None
) -> list[str]:
    found = []
    if parallelism(before, config) != parallelism(after, config):
        found.append("Another parallelism: the figures are not comparable with earlier runs")
    if any(after.env.get(name, "-1") not in {"-1", "-1.0", ""} for name in _SIMULATED):
        found.append("Acceptance is simulated: timing only, the text is meaningless")
    if after.env.get("CUDA_LAUNCH_BLOCKING") == "1":
        found.append("CUDA_LAUNCH_BLOCKING=1 forbids any meaningful throughput")
    if command.has("--disable-cuda-graph"):
        found.append("Without CUDA graphs the CPU's launch time is what is measured")
    return found
