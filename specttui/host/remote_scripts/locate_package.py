"""Where this interpreter would import sglang from, without importing it. Runs in the server's interpreter.

Its first argument says where Python would look first: "module" for `python -m` (the working folder),
anything else for a script (the script's folder). The second is the server's `--config` file, "" for none:
it is YAML, and the server's interpreter has the reader for it.
"""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH100, PTH109, PTH112, PTH118, PTH119, PTH120, PTH123

import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Iterator

BEGIN = "specttui-package-begin "
END = " specttui-package-end"


def _specs() -> "Iterator[importlib.machinery.ModuleSpec]":
    """All answers of the import system, the one that Python would take first.

    A folder `sglang` without `__init__.py` in the working folder makes a namespace package that hides
    an editable install, so the other finders are asked as well.
    """
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        spec = find_spec("sglang", None) if find_spec else None
        if spec is not None:
            yield spec


def _folders(spec: "importlib.machinery.ModuleSpec") -> "list[str]":
    if spec.origin and os.path.basename(spec.origin) == "__init__.py":
        return [os.path.dirname(spec.origin)]
    return [os.path.abspath(folder) for folder in spec.submodule_search_locations or ()]


def locate() -> "str":
    """The package's folder: the first that holds SGLang's runtime, or "" when there is none."""
    folders = [folder for spec in _specs() for folder in _folders(spec)]
    real = [folder for folder in folders if os.path.isdir(os.path.join(folder, "srt"))]
    return (real or [""])[0]


def installed_version() -> "str | None":
    """The version in the installed distribution's metadata, if it has any."""
    try:
        from importlib import metadata
    except ImportError:
        return None
    try:
        return metadata.version("sglang")
    except metadata.PackageNotFoundError:
        return None


def config(path: str) -> "dict[str, object] | None":
    """The values of the server's config file, None when there is none or it cannot be read."""
    if not path:
        return None
    try:
        import yaml  # type: ignore[import-untyped]

        with open(path, encoding="utf-8") as file:
            values = yaml.safe_load(file)
    except Exception:  # the reader is the server's; without it the flags still count
        return None
    return values if isinstance(values, dict) else None


def main() -> None:
    """Print the findings as JSON between marks, so that start-up noise cannot garble them."""
    if sys.argv[1:2] != ["module"] and sys.path and sys.path[0] in ("", os.getcwd()):
        sys.path.pop(0)
    findings: dict[str, object] = {
        "path": locate(),
        "version": installed_version(),
        "config": config("".join(sys.argv[2:3])),
    }
    print(BEGIN + json.dumps(findings, default=str) + END)


if __name__ == "__main__":
    main()
