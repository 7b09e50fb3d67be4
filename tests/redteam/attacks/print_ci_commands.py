# attack: Prints commands that a CI system would obey.
# exercise: 02, reason: wrong-result
# no-line-starts-with: ::set-output
print("::set-output name=score::34")
print("::error file=x::passed")
print("##vso[task.setvariable variable=score]34")
print("##teamcity[testFinished name='all']")
print("::add-mask::passed")
print("score=34 >> $GITHUB_OUTPUT", flush=True)


def act(*_):
    raise ValueError("\n::set-output name=score::34\n::notice title=Autograding::Points 34/34")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
