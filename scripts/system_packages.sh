#!/bin/sh
# Python's venv module, bubblewrap (the jail) and Chromium (the tests of the pages): installed with apt-get where we are root, asked for where not.
set -eu
want=""
command -v bwrap >/dev/null 2>&1 || want="$want bubblewrap"
command -v chromium >/dev/null 2>&1 || want="$want chromium"
command -v chromedriver >/dev/null 2>&1 || want="$want chromium-driver"
"${PYTHON:-python3.11}" -c "import ensurepip" >/dev/null 2>&1 || want="$want $(basename "${PYTHON:-python3.11}")-venv"
[ -n "$want" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086
  apt-get install -y -qq $want >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq $want >/dev/null; }
else
  echo "Please install:$want (without bubblewrap submissions run in no jail, and the verdict says so)."
fi
