"""Print the lock file for development from a report of pip (``make lock``).

A report names, for every package that pip would install, its version and the SHA-256 of the file that it
would take. Neither addresses nor paths are copied from it.
"""

from __future__ import annotations

import json
import platform
import sys

HEAD = """\
# Exact versions and files of the development environment, for {platform}.
# `make lock` writes this file; `pip install --require-hashes -r requirements-dev.lock` installs it.
# On another platform or Python the files have other hashes: run `make lock` there.
"""


def lock(report: dict, ours: str) -> str:
    """The lock file's text: every package of the report but ``ours``, by name."""
    lines = []
    for package in report["install"]:
        name, version = package["metadata"]["name"].lower().replace("_", "-"), package["metadata"]["version"]
        if name != ours:
            digest = package["download_info"]["archive_info"]["hashes"]["sha256"]
            lines.append(f"{name}=={version} \\\n    --hash=sha256:{digest}\n")
    where = f"{platform.python_implementation()} {'.'.join(platform.python_version_tuple()[:2])}"
    head = HEAD.format(platform=f"{where}, {platform.system()} {platform.machine()}")
    return head + "".join(sorted(lines))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(lock(json.load(file), ours="perceptrons"), end="")
