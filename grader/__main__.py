"""``python -m attngrade`` and the console script: nothing heavy is imported before a command needs it."""

from .cli import main

if __name__ == "__main__":
    main()
