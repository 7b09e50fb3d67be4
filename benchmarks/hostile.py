"""Returns that nobody wants: each function writes one into a folder of returns. What a hiring team's inbox may hold, and what its author may hope for."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

Writer = Callable[[Path, str, str], None]

CODE = {
    "loops for ever": "while True:\n    pass\n",
    "loops in a function": "def softmax(z, axis=-1):\n    while True:\n        pass\n",
    "takes all memory": "hog = []\nwhile True:\n    hog.append(bytearray(64 << 20))\n",
    "forks without end": "import os\nwhile True:\n    os.fork()\n",
    "leaves early": "import os\nos._exit(0)\n",
    "kills its group": "import os\nimport signal\nos.kill(0, signal.SIGKILL)\n",
    "prints without end": "while True:\n    print('x' * 10000, flush=True)\n",
    "reads secrets": "import glob\nfound = [open(p, errors='replace').read() for p in ['/proc/1/environ', '/etc/shadow', *glob.glob('/*/secret.key'), *glob.glob('/*/*/*/secret.key')]]\nraise SystemExit(str(found))\n",
    "writes into every pipe": "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'passed' * 1000)\n    except OSError:\n        pass\n",
    "changes the grader": "import sys\nfor name in list(sys.modules):\n    if 'pytest' in name or 'worker' in name or 'wire' in name:\n        sys.modules[name] = None\nimport builtins\nbuiltins.__import__ = None\n",
    "is no UTF-8": "# \udcff\udcfe\n",
    "is no Python": "def softmax(z:\n  return\n",
}


def source(text: str) -> Writer:
    """A return whose file has this text."""
    def write(folder: Path, name: str, module: str) -> None:
        (folder / name).mkdir()
        (folder / name / f"{module}.py").write_bytes(text.encode("utf-8", "surrogateescape"))

    return write


def zip_bomb(folder: Path, name: str, module: str) -> None:
    """A zip of 200 kB that holds 200 MB."""
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{module}.py", b"#" * 200_000_000)


def gzip_bomb(folder: Path, name: str, module: str) -> None:
    """A tar.gz that inflates without end."""
    (folder / f"{name}.tar.gz").write_bytes(gzip.compress(b"\0" * (160 << 20), 1))


def traversal(folder: Path, name: str, module: str) -> None:
    """A zip whose names point outside."""
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        for where in (f"../../{module}.py", f"/tmp/{module}.py", f"C:\\{module}.py", "../candidate0000/answers.yaml"):
            archive.writestr(where, "raise SystemExit('outside')\n")


def links(folder: Path, name: str, module: str) -> None:
    """A tar with links and devices where files should be."""
    with tarfile.open(folder / f"{name}.tar", "w") as archive:
        for sort, target in ((tarfile.SYMTYPE, "/etc/passwd"), (tarfile.LNKTYPE, "../../secret.key"), (tarfile.CHRTYPE, "")):
            member = tarfile.TarInfo(f"{module}.py")
            member.type, member.linkname = sort, target
            archive.addfile(member)


def a_link(folder: Path, name: str, module: str) -> None:
    """An entry that is a link to all of the disk."""
    os.symlink("/", folder / name)


def a_pipe(folder: Path, name: str, module: str) -> None:
    """A named pipe: whoever opens it waits for ever."""
    (folder / name).mkdir()
    os.mkfifo(folder / name / f"{module}.py")


def damaged(folder: Path, name: str, module: str) -> None:
    """Half a zip."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(f"{module}.py", "x = 1\n" * 1000)
    (folder / f"{name}.zip").write_bytes(whole.getvalue()[:-200])


def yaml_bomb(folder: Path, name: str, module: str) -> None:
    """Answers that multiply themselves."""
    (folder / name).mkdir()
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"] + [f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]" for n in range(9)]
    (folder / name / "answers.yaml").write_text("\n".join(lines) + "\n")


HOSTILE: dict[str, Writer] = {
    **{name: source(text) for name, text in CODE.items()}, "is a zip bomb": zip_bomb, "is a gzip bomb": gzip_bomb, "points outside": traversal, "holds links": links,
    "is a link": a_link, "holds a pipe": a_pipe, "is damaged": damaged, "multiplies its answers": yaml_bomb,
}
