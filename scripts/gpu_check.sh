#!/usr/bin/env bash
# Everything that needs a CUDA device, in one go and in under eight minutes: the reference's verdict, the kernel benchmark, the tests marked gpu.
# JSON goes to $OUT (default: benchmarks/gpu). `--try` runs what the CPU allows of it, in the interpreter, and says that no GPU was met.
# The Python is $PYTHON, the project's own or python3, with the torch and the Triton that it has; attngrade need not be installed in it.
set -uo pipefail
cd "$(dirname "$0")/.."
trying=; [ "${1:-}" = --try ] && trying=--try
out="${OUT:-benchmarks/gpu}"
mkdir -p "$out"
python="${PYTHON:-.venv/bin/python}"
command -v "$python" >/dev/null || python=python3
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export PYTHONUNBUFFERED=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 ATTNGRADE_HOME="$scratch/home"

# Not installed: a throwaway environment around the same packages, in which the folders have the names that the package has.
if ! "$python" -c 'import attngrade' 2>/dev/null; then
  "$python" -m venv --without-pip --system-site-packages "$scratch/venv" || exit 3
  mkdir -p "$scratch/names/attngrade"
  ln -s "$PWD"/grader/* "$PWD"/exercises "$PWD"/solutions "$PWD"/questions "$scratch/names/attngrade/"
  "$python" -c 'import sys; print(*(p for p in sys.path if p.endswith(("site-packages", "dist-packages"))), sep="\n")' > "$scratch/paths"
  echo "$scratch/names" >> "$scratch/paths"
  cp "$scratch/paths" "$("$scratch/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/attngrade.pth"
  python="$scratch/venv/bin/python"
  "$python" -c 'import attngrade.grading, torch, triton, yaml, click, pytest' || { echo "This Python lacks something: it needs torch, triton, numpy, pyyaml, click and pytest."; exit 3; }
fi

began=$SECONDS
"$python" - "$out/machine.json" <<'PY' || exit 3
import json, os, platform, shutil, sys
import torch, triton
cuda = torch.cuda.is_available()
json.dump({"python": platform.python_version(), "torch": torch.__version__, "triton": triton.__version__, "cuda": torch.version.cuda, "kernel": platform.release(),
           "bubblewrap": bool(shutil.which("bwrap")), "compiler": shutil.which("cc") or shutil.which("gcc"), "nodes": sorted(n for n in os.listdir("/dev") if n.startswith("nvidia")),
           "card": torch.cuda.get_device_name() if cuda else None, "met_a_gpu": cuda}, open(sys.argv[1], "w"), indent=1)
print("CUDA device:", torch.cuda.get_device_name() if cuda else "none here; nothing below has met a GPU")
PY

say() { echo "== $1 ($((SECONDS - began)) s)"; }
say "the reference's verdict"
reference="$(echo solutions/exercise06_*.py)"
timeout 150 "$python" -m attngrade check exercise06 --file "$reference" --format json --output "$out/verdict.json" --seed 1
verdict=$?
"$python" - "$out/verdict.json" <<'PY'
import json, sys
for told in json.load(open(sys.argv[1]))["results"]:
    print(told["exercise"], told["verdict"], told["reason"], told["device"], told["isolation"], f"{told['duration_s']:.0f} s")
    for check in told["checks"]:
        if check["outcome"] != "passed":
            print("  ", check["outcome"], check["id"], check["message"])
PY

say "the kernel benchmark"
timeout 130 "$python" -m benchmarks.kernel --tune $trying --output "$out/kernel.json"
bench=$?

say "the tests marked gpu"
several=; "$python" -c 'import xdist' 2>/dev/null && several="-p xdist -n ${TESTS_AT_ONCE:-$(($(nproc) > 12 ? 12 : $(nproc)))}"  # most of the time goes into compiling, on one core each
timeout 190 "$python" -m pytest -q -m gpu tests/gpu -p no:cacheprovider $several --junitxml="$out/tests.xml"
tests=$?
say "verdict: $verdict, benchmark: $bench, tests: $tests; results in $out"
[ "$bench" = 0 ] && { [ "$tests" = 0 ] || [ "$tests" = 5 ]; } && { [ "$verdict" = 0 ] || { [ -n "$trying" ] && [ "$verdict" = 4 ]; }; }
