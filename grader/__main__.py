"""``python -m attngrade`` and the console script: nothing heavy is imported before a command needs it.

``-m`` puts the working folder first on the path, where a file beside a submission could bear the name of a library: it is taken off before anything else.
"""

import os
import sys

if __name__ == "__main__" and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from .cli import main

if __name__ == "__main__":
    main()
