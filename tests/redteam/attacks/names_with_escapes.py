# attack: Has a function whose name moves the cursor and turns the text.
# exercise: 02, reason: not-implemented|wrong-result
# no-bytes: \x1b \u202e
import numpy as np
globals()["\x1b[2Jfoo\u202e\n::error::bar"] = lambda: 1
