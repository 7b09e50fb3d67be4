"""Questions in other programs' formats: pure functions from questions to text (or to a package file)."""
