"""A server's command line and environment: read, change, diff, render. Pure."""

from __future__ import annotations

from specttui.launch.argv import CommandLine, Option, parse
from specttui.launch.change import apply, speculation_edits, with_speculation
from specttui.launch.communication import Communication, communication
from specttui.launch.coupling import coupling_notes, max_draft_tokens
from specttui.launch.diff import changes, describe, summary
from specttui.launch.edits import (
    Baseline,
    DiffLine,
    Edit,
    LaunchDiff,
    Preset,
    RemoveFlag,
    SetEnv,
    SetFlag,
    UnsetEnv,
)
from specttui.launch.label import label
from specttui.launch.nccl import Problem, env_meaning, env_paths, validate_env, validate_environment
from specttui.launch.overrides import draft_memory_hint
from specttui.launch.presets import PRESETS, is_active, preset
from specttui.launch.redact import redact, relevant_env
from specttui.launch.render import command_lines, env_lines, quoted
from specttui.launch.settings import (
    Parallelism,
    changed_settings,
    config_file,
    expected_effective,
    grouping_algorithm,
    model_path,
    parallelism,
    server_host,
    server_port,
    spec_settings,
)

__all__ = [
    "PRESETS", "Baseline", "CommandLine", "Communication", "DiffLine", "Edit", "LaunchDiff", "Option",
    "Parallelism", "Preset", "Problem", "RemoveFlag", "SetEnv", "SetFlag", "UnsetEnv", "apply",
    "changed_settings", "changes", "command_lines", "communication", "config_file", "coupling_notes",
    "describe", "draft_memory_hint", "env_lines", "env_meaning", "env_paths", "expected_effective",
    "grouping_algorithm", "is_active", "label", "max_draft_tokens", "model_path", "parallelism", "parse",
    "preset", "quoted", "redact", "relevant_env", "server_host", "server_port", "spec_settings",
    "speculation_edits", "summary", "validate_env", "validate_environment", "with_speculation",
]  # fmt: skip
