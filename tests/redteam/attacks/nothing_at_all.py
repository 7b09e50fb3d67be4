# attack: An empty file: no function, no value, no word.
# exercise: 02, reason: wrong-result|not-implemented|load-error
pass
