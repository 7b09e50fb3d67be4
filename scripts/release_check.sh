#!/usr/bin/env bash
# Wheel and sdist are built from the files that git knows, installed into two new environments and used outside the repository.
# Part of `make test`.
#
#   scripts/release_check.sh [FOLDER]     FOLDER: where wheel and sdist are left (default: nowhere)
#
# So that torch isn't installed twice more, the new environments see what this one has installed (through a .pth file, which makes
# nothing of an editable attngrade visible). FULL=1 installs every dependency anew instead, torch under constraints.txt: minutes, and what a user gets
# (NEW_PYTHON=python3.13 with it: on another Python).
set -euo pipefail
cd "$(dirname "$0")/.."
root="$PWD" python="$PWD/.venv/bin/python" keep="${1:-}"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
unset PYTHONPATH
export ATTNGRADE_HOME="$place/home" OMP_NUM_THREADS=1 PIP_DISABLE_PIP_VERSION_CHECK=1

echo "== build =="
mkdir "$place/source" "$place/dist"
{ git ls-files -z --cached --others --exclude-standard 2>/dev/null || find . \( -name .git -o -name .venv -o -name build -o -name dist \) -prune -o -type f -print0; } | xargs -0 -I{} sh -c '[ ! -e "$1" ] || printf "%s\0" "$1"' _ {} | tar --null -T - -cf - | tar -xf - -C "$place/source"
(cd "$place/source" && "$python" -c "from setuptools import build_meta as b; d = '$place/dist'; print(b.build_sdist(d)); print(b.build_wheel(d))" 2>&1 | tail -2)
wheel="$(ls "$place"/dist/*.whl)" sdist="$(ls "$place"/dist/*.tar.gz)"
"$python" - "$wheel" "$root" <<'PY'
import sys, zipfile
from pathlib import Path
names = zipfile.ZipFile(sys.argv[1]).namelist()
homes = {name.split("/")[0] for name in names}
assert homes == {"attngrade", next(home for home in homes if home.endswith(".dist-info"))}, f"The wheel should hold one package; it holds {sorted(homes)}."
missing = [p for room in ("exercises", "solutions", "questions") for p in sorted(Path(sys.argv[2], room).rglob("*"))
           if p.suffix in (".py", ".yaml") and not f"attngrade/{p.relative_to(sys.argv[2])}" in names]
missing += [p for p in sorted(Path(sys.argv[2], "grader").rglob("*.py")) if f"attngrade/{p.relative_to(Path(sys.argv[2], 'grader'))}" not in names]
assert not missing, f"The wheel lacks {missing[:5]} and {len(missing)} in all: name their package in pyproject.toml."
PY

as_wheel() { # a wheel as it is; an sdist unpacked and built here, since a new environment has an old setuptools and no network is asked for
  case "$1" in *.whl) echo "$1"; return ;; esac
  mkdir "$place/unpacked" && tar -xzf "$1" -C "$place/unpacked" --strip-components 1
  (cd "$place/unpacked" && "$python" -c "from setuptools import build_meta as b; print(b.build_wheel('$place/unpacked'))" 2>/dev/null | tail -1 | sed "s|^|$place/unpacked/|")
}

used() { # used NAME FILE: install the file into a new environment, and do there what a learner and a team do
  echo "== $1 =="
  "${NEW_PYTHON:-$python}" -m venv "$place/$1"
  local bin="$place/$1/bin"
  if [ -n "${FULL:-}" ]; then
    "$bin/python" -m pip install --quiet --constraint "$root/constraints.txt" "$2"
  else
    "$python" -c "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent.parent)" > "$("$bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/borrowed.pth"
    "$bin/python" -m pip install --quiet --no-deps --no-index "$(as_wheel "$2")"
  fi
  mkdir "$place/$1-outside" && cd "$place/$1-outside"
  local say="$bin/attngrade"
  case "$("$bin/python" -c 'import attngrade; print(attngrade.__file__)')" in "$place/$1"/*) ;; *) echo "attngrade comes from elsewhere"; exit 1 ;; esac
  "$say" --version
  "$say" init work >/dev/null && cd work
  for exercise in 1 3; do
    "$say" check "$exercise" >/dev/null && { echo "an untouched stub passed"; exit 1; } || [ $? -eq 1 ]
    "$say" solution "$exercise" --give-up > answer && mv answer "$(ls exercise0"$exercise"_*.py)"
    "$say" check "$exercise" | tail -2 | head -1
  done
  "$say" plot 3 >/dev/null
  "$bin/python" -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.argv[1], "quiz", "--topic", "masks"])))' "$say" < <(sleep 2; printf ':quit\r') >/dev/null
  "$say" mark score-variance --answer "The d_k products are independent with mean 0 and variance 1, so the variances add: std sqrt(d_k)." | tail -3
  "$say" questions qk-norm >/dev/null
  "$say" export html --output questions.html >/dev/null
  "$say" takehome new kit --exercise 2 --question score-variance >/dev/null
  (cd kit/candidate && "$bin/python" pack.py ada >/dev/null) && mkdir returns && mv kit/candidate/ada.zip returns/
  "$say" takehome grade returns --kit kit --jobs 1 2>&1 | grep ada
  "$say" takehome report kit >/dev/null
  "$say" pack new mine >/dev/null && "$say" pack verify mine | tail -1
  cd "$root"
}

used wheel "$wheel"
used sdist "$sdist"
[ -z "$keep" ] || { mkdir -p "$keep" && cp "$place"/dist/* "$keep"; }
echo "Both work outside the repository: $(basename "$wheel"), $(basename "$sdist")."
