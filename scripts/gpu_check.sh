#!/usr/bin/env bash
# Everything that needs a CUDA device, in one go: the tests marked gpu, then the kernel benchmark. JSON goes to $OUT (default: benchmarks/gpu).
# Without a device it runs what the CPU allows (the interpreter) and says that no GPU was met. The wall clock is kept under eight minutes.
set -uo pipefail
cd "$(dirname "$0")/.."
out="${OUT:-benchmarks/gpu}"
python="${PYTHON:-.venv/bin/python}"
mkdir -p "$out"
export PYTHONUNBUFFERED=1 PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
"$python" - "$out/machine.json" <<'PY'
import json, platform, sys
import torch
cuda = torch.cuda.is_available()
json.dump({"python": platform.python_version(), "torch": torch.__version__, "cuda": torch.version.cuda,
           "card": torch.cuda.get_device_name() if cuda else None, "met_a_gpu": cuda}, open(sys.argv[1], "w"), indent=1)
print("CUDA device:", torch.cuda.get_device_name() if cuda else "none here; nothing below has met a GPU")
PY
timeout 300 "$python" -m pytest -q -m gpu tests/gpu -p no:cacheprovider --junitxml="$out/tests.xml"
tests=$?
timeout 150 "$python" -m benchmarks.kernel --output "$out/kernel.json"
bench=$?
echo "tests: $tests, benchmark: $bench, results in $out"
[ "$tests" = 0 ] || [ "$tests" = 5 ] && [ "$bench" = 0 ]
