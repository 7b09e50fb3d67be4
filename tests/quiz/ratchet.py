"""Rewrites known_errors.json, the wrong marks that the labelled answers may have: `python tests/quiz/ratchet.py`.

The list may only get shorter; a new entry needs `--allow` and a reason in the commit's message.
"""

from __future__ import annotations

import json
import sys

from test_bank import BANK, RATCHET, errors


def main(allow: bool) -> int:
    found = sorted({error for name in BANK.ids for labelled in BANK.labelled(name) for error in errors(labelled)})
    known = json.loads(RATCHET.read_text()) if RATCHET.exists() else found
    new = sorted(set(found) - set(known))
    if new and not allow:
        print("new wrong marks, nothing written:\n" + "\n".join(new))
        return 1
    RATCHET.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{len(found)} known wrong marks, {len(set(known) - set(found))} fewer than before")
    return 0


if __name__ == "__main__":
    sys.exit(main("--allow" in sys.argv))
