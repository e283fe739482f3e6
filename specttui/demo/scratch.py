"""The demo host's folder: a home with models and a log, programs, and the simulated package."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from specttui.demo.simulated.sglang.simulation.timing import RIGHT_LAYER_IDS, Profile

_SHIPPED = Path(__file__).parent / "simulated"
_TARGET_CONFIG = {
    "architectures": ["KimiK25ForConditionalGeneration"],
    "model_type": "kimi_k25",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "max_position_embeddings": 262144,
}
_DRAFT_CONFIG = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "num_hidden_layers": 1,
    "hidden_size": 7168,
    "draft_vocab_size": 32000,
    "eagle_config": {"eagle_aux_hidden_state_layer_ids": RIGHT_LAYER_IDS, "use_aux_hidden_state": True},
}


class Scratch:
    """A fresh folder under the system's temporary one, mode 0700.

    Args:
        profile: The machine that nvidia-smi shows.

    Attributes:
        root: The folder itself.
        home: The home folder that logins get.
        site: What PYTHONPATH holds for the server.
        programs: What PATH begins with.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.root = Path(tempfile.mkdtemp(prefix="specttui-demo-"))
        self.home = self.root / "home"
        self.site = self.root / "site"
        self.programs = self.root / "bin"
        self.temporary = self.root / "tmp"

    @property
    def target_path(self) -> Path:
        """The target model's folder."""
        return self.home / "models" / "Kimi-K2.5"

    @property
    def draft_path(self) -> Path:
        """The draft model's folder."""
        return self.home / "models" / "Kimi-K2.5-EAGLE3"

    @property
    def log_path(self) -> Path:
        """Where the first server's output goes."""
        return self.home / "sglang.log"

    def worker_path(self, *, overlapped: bool = True) -> Path:
        """The worker file that runs with overlap, or without."""
        name = "eagle_worker_v2.py" if overlapped else "eagle_worker.py"
        return self.site / "sglang" / "srt" / "speculative" / name

    def fill(self) -> None:
        """Create everything in it."""
        for folder in (self.home, self.programs, self.temporary, self.target_path, self.draft_path):
            folder.mkdir(parents=True)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(_SHIPPED / "sglang", self.site / "sglang", ignore=ignore)
        # The base interpreter: the simulation needs nothing that the virtual environment holds.
        (self.programs / "python3").symlink_to(Path(sys.executable).resolve())
        self._install_nvidia_smi()
        _write_config(self.target_path, _TARGET_CONFIG)
        _write_config(self.draft_path, _DRAFT_CONFIG)

    def remove(self) -> None:
        """Delete the folder with everything in it."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _install_nvidia_smi(self) -> None:
        program, script = self.programs / "nvidia-smi", self.programs / "nvidia_smi.py"
        profile = self._profile
        gpus = f"--demo-gpus={profile.gpu_count},{profile.gpu_memory_mib},{profile.gpu_name}"
        shutil.copy(_SHIPPED / "bin" / "nvidia_smi.py", script)
        command = shlex.join([str(self.programs / "python3"), "-S", "-E", str(script), gpus])
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        program.chmod(0o755)


def login_environment(scratch: Scratch, username: str, demo_id: str) -> dict[str, str]:
    """What a login on the demo host finds in its environment."""
    path = os.environ.get("PATH", os.defpath)
    return {
        "HOME": str(scratch.home),
        "PATH": f"{scratch.programs}:{path}",
        "USER": username,
        "LOGNAME": username,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TMPDIR": str(scratch.temporary),
        "SPECTTUI_DEMO_ID": demo_id,
    }


def _write_config(folder: Path, config: dict[str, object]) -> None:
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
