"""Fluent and wrong: the right words in the wrong relation earn nothing, and beside each stands its right twin, which earns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from attngrade.quiz.mark import mark
from attngrade.quiz.question import load_bank

BANK = load_bank()
CLASSES = {  # what is turned round: (question, point, the wrong one, its right twin)
    "the other side of the axis": [
        ("causal-mask-place", "before-softmax", "Ahead of the softmax, minus infinity is put on all scores with j < i.", "Ahead of the softmax, minus infinity is put on all scores with j > i."),
        ("causal-mask-place", "before-softmax", "Set future scores to 0 ahead of the softmax.", "Set future scores to minus infinity ahead of the softmax."),
        ("unlearnable", "dead-gradient", "The matrix that never learns is W_V.", "The matrices that never learn are W_Q and W_K."),
        ("qk-norm", "bounded", "It bounds the loss at a learned scale.", "It bounds the logit at a learned scale."),
    ],
    "cause and effect": [
        ("unlearnable", "saturation", "It's a peaked attention that makes the scores large.", "It's large scores that make the attention peaked."),
        ("score-variance", "variances-add", "Correlations make the variance grow like d_k.", "Independent terms make the variance grow like d_k."),
    ],
    "a comparative or an extreme": [
        ("forward-scale", "relative-update", "Adam's step is the same for all, so in relative terms there's no difference for small weights.", "Adam's step is the same for all, so in relative terms it's huge for small weights."),
        ("causal-mask-place", "normaliser", "A step later would be no worse: the future leaves the denominator too.", "A step later would be worse: the future stays in the denominator."),
        ("mup-scale", "linear-growth", "After training the dot product grows with the square of d_k.", "After training the dot product grows linearly with d_k."),
        ("score-variance", "variances-add", "The standard deviations are what add up to d_k.", "The variances are what add up to d_k."),
    ],
    "the point itself, denied": [
        ("mup-scale", "independence-breaks", "Independence of q and k holds all through training.", "Independence of q and k holds at the start only."),
        ("single-head-average", "blend-loses", "Nothing gets lost by it: the mixture holds both parts.", "Both get lost by it: the mixture is neither part."),
        ("qk-norm", "failure", "It's no remedy for logits that grow in training or for loss spikes.", "It's a remedy for logits that grow in training and for loss spikes."),
        ("unlearnable", "frozen-pattern", "Where the head looks doesn't stay as it was at the start.", "Where the head looks stays as it was at the start."),
        ("mup-scale", "width-transfer", "That settings tuned at one width can be used at another width does not follow.", "It follows that settings tuned at one width can be used at another width."),
    ],
    "where a derivative is zero": [
        ("softmax-jacobian", "vanishes", "At a one-hot vector the Jacobian is at its maximum, it is 0 when all p are equal.", "At a one-hot vector the Jacobian is 0 in every entry."),
        ("softmax-jacobian", "formula", "The entry is p_j (1 - p_i) for each pair i, j.", "The entry is p_i (delta_ij - p_j) for each pair i, j."),
        ("unlearnable", "saturation", "Large logits put the softmax in its steepest region.", "Large logits put the softmax in its saturated region."),
    ],
    "a false claim that no later sentence takes back": [
        ("unlearnable", "saturation", "A peaked attention makes the scores large. A peaked softmax is steep.", "You'd think that a peaked attention makes the scores large. No, large scores make the softmax peaked."),
    ],
    "the consequence, after a right start": [
        ("mup-scale", "width-transfer", "The factor 1/d_k follows. It makes the logits shrink with the width, the learning rate has to be retuned for each width.", "The factor 1/d_k follows. It keeps the logits the same at any width, the learning rate need not be retuned for each width."),
        ("mup-scale", "width-transfer", "With 1/d_k one must retune the learning rate for every width.", "With 1/d_k one needn't retune the learning rate for every width."),
        ("score-variance", "term-moments", "Each product has mean 1 because E[q_i k_i] = E[q_i^2] = 1, so a typical score is d_k, not its root.", "Each product has mean 0 because E[q_i k_i] = E[q_i] E[k_i] = 0, so a typical score isn't d_k but its root."),
        ("causal-mask-place", "normaliser", "Doing it after the softmax would be the same thing, the denominator doesn't have the future in it in both cases.", "Doing it after the softmax would not be the same thing, the denominator has the future in it."),
    ],
    "the cause, in a clause behind": [
        ("mup-scale", "independence-breaks", "Logits reach d_k once trained, because independent vectors never get aligned with each other.", "Logits reach d_k once trained, because both vectors got aligned with each other."),
    ],
    "what is bounded, what is left, what stands where": [
        ("qk-norm", "bounded", "A head's scores can be above any constant set by the gain.", "A head's scores cannot be above a constant set by the gain."),
        ("score-variance", "variances-add", "All cross terms drop out, what's left is twice d_k.", "All cross terms drop out, what's left is d_k times 1."),
        ("causal-mask-place", "before-softmax", "-inf where the key is before the query, between QK^T and softmax.", "-inf where the key is after the query, between QK^T and softmax."),
        ("mup-scale", "linear-growth", "After training the score grows in proportion to sqrt(d_k).", "After training the score grows in proportion to the width, so /sqrt would leave a factor sqrt(d_k)."),
    ],
    "a right word for another thing": [
        ("causal-mask-place", "normaliser", "Masked after the softmax, the rows remain normalised.", "Masked after the softmax, the future remains in the normaliser."),
        ("forward-scale", "adam-step", "For Adam the update gets normalised by the weight size.", "For Adam the update gets normalised, about lr regardless of weight size."),
        ("forward-scale", "relative-update", "Small weights get overwritten. Their relative step is small, though.", "Small weights get overwritten. At their usual size their relative step is small."),
    ],
    "a formula that its writer corrects": [
        ("softmax-jacobian", "formula", "p_i(δ_ij − p_j), hmm sign. It has to be a sum, so plus: p_i(δ_ij + p_j).", "p_i(δ_ij + p_j), hmm sign. Rows sum to zero, so minus: p_i(δ_ij − p_j)."),
    ],
    "named and nothing said of it": [
        ("forward-scale", "relative-update", "I think about the effective learning rate: an update goes wrong, I guess.", "I think about the weights: the effective learning rate of an update is far higher if they are small."),
    ],
    "said of another thing, or by another way": [
        ("score-variance", "std", "Every score is about d_k.", "Every score is about √d_k, as the standard deviation."),
        ("score-variance", "term-moments", "A product of two normals is chi squared, so a term has a mean of zero only by luck.", "The second moment of a term splits by independence into E[q_i^2] E[k_i^2] = 1 and its mean is 0."),
        ("softmax-jacobian", "vanishes", "For a one-hot p the entries off the diagonal are 0 and row k survives, the gradient still flows.", "For a one-hot p the entries off the diagonal are 0 and so is row k, no gradient flows any more."),
        ("unlearnable", "dead-gradient", "At such scores the gradients explode in W_Q and W_K, so they never learn.", "At such scores the gradients vanish in W_Q and W_K, so they never learn."),
        ("unlearnable", "frozen-pattern", "The attention maps at step 0 and step 10k have nothing in common.", "The attention maps are identical at step 0 and step 10k."),
        ("forward-scale", "adam-step", "At step 0 the outputs are the same.", "At any step the update is the same lr, big weight or small."),
        ("forward-scale", "relative-update", "A small init means tiny steps for its weights, relatively.", "A small init means huge steps for its weights, relatively."),
        ("mup-scale", "independence-breaks", "The components inside q become correlated with each other in training.", "The components of q become correlated with those of k in training."),
        ("qk-norm", "failure", "The variance is one, so the softmax doesn't saturate at the init.", "The logits don't grow, so the softmax doesn't saturate late in training."),
        ("single-head-average", "convex", "The output is a weighted average with weights that sum to one, though weights can be negative.", "The output is a weighted average with weights that sum to one, and no weight can be negative."),
        ("single-head-average", "one-distribution", "A head has several lists of percentages per token.", "A head has one list of percentages per token."),
        ("causal-mask-place", "exact-zero", "The gradient to future tokens is exactly zero.", "The weight of future tokens is exactly zero."),
        ("causal-mask-place", "exact-zero", "Future scores are set to 0, so the softmax gives them zero probability; you set future scores to 0.", "Future scores are set to -inf, so the softmax gives them zero probability."),
    ],
    "a formula that is dictated": [
        ("softmax-jacobian", "formula", "It is p i times open bracket delta i j plus p j close bracket.", "It is p i times open bracket delta i j minus p j close bracket."),
        ("softmax-jacobian", "formula", "It's p i times one minus p j for all i and j.", "It's p i times one minus p i on the diagonal and minus p i p j off the diagonal."),
        ("mup-scale", "linear-growth", "They're trained and q dot k scales like root d k then.", "They align in training so there's no independence and q dot k scales like d k then."),
    ],
    "checked by its writer": [
        ("softmax-jacobian", "formula", "J = diag(p) - pp^T... let me check the sign: so it's pp^T - diag(p).", "J = pp^T - diag(p)... let me check the sign: so it's diag(p) - pp^T."),
        ("score-variance", "variances-add", "The variance is d_k. Let me check: with the squares the variance is d_k^2.", "The variance is d_k^2? Let me check with d_k = 2: 1 + 1 = 2, so the variance is d_k."),
    ],
    "which of the entries is zero": [
        ("softmax-jacobian", "vanishes", "p_i(delta_ij - p_j), in which the off-diagonal ones become zero at a one hot.", "p_i(delta_ij - p_j), which becomes zero at a one hot."),
        ("softmax-jacobian", "vanishes", "diag(p) - pp^T, which becomes the identity at a one hot.", "diag(p) - pp^T. That goes to zero for a one-hot p."),
    ],
    "the variances of factors, added": [
        ("score-variance", "variances-add", "Every term has variance Var(q) + Var(k) = 2 and you add d_k of them, so 2 d_k.", "Var(q.k) = Var(q_1 k_1) + Var(q_2 k_2) + ... = d_k."),
        ("score-variance", "variances-add", "I think it's 2*d_k? Every term has variance 2 and you add d_k of them.", "All 2*d_k numbers are independent, of variance one, and the variance is d_k."),
        ("score-variance", "term-moments", "Each term has variance Var(q) + Var(k) = 2.", "Each term has variance Var(q) * Var(k) = 1."),
    ],
    "a divisor, named": [
        ("score-variance", "std", "Every product has variance one. Then you sum them and normalise by sqrt(d_k).", "Every product has variance one. Then you sum them, the std is sqrt(d_k), so you normalise by sqrt(d_k)."),
    ],
    "small where it is huge": [
        ("forward-scale", "relative-update", "With a small init the change per step is negligible relative to the weights.", "With a small init the change per step is huge relative to the weights."),
        ("forward-scale", "relative-update", "Each update of lr is tiny compared to the small weight.", "Each update of lr is tiny compared to a normal-size weight and huge compared to a small one."),
    ],
    "what is added up": [
        ("mup-scale", "linear-growth", "With more heads the sum over heads adds up h contributions, each d_k wide, so the total is h*d_k.", "With aligned vectors the sum over the components of a head adds up contributions of one sign, so the total is proportional to d_k."),
    ],
    "before the projections": [
        ("qk-norm", "what", "You batchnorm the hidden states before the projections to Q and K.", "You RMS-norm Q and K after the projections, before the dot product."),
        ("qk-norm", "what", "Normalise the token embeddings before computing queries and keys.", "Normalise queries and keys before computing their dot product."),
    ],
    "an order without a place": [
        ("causal-mask-place", "normaliser", "You need to do it in the right order, otherwise the rows don't sum to one.", "You need to do it before the softmax, otherwise the rows don't sum to one."),
    ],
    "a counterfactual that is ruled out": [
        ("unlearnable", "saturation", "If large scores did push the softmax to one-hot, it would be stuck. But LayerNorm rules that out.", "If large scores push the softmax to one-hot, it gets stuck. And LayerNorm doesn't prevent that."),
        ("single-head-average", "blend-loses", "If a head had only one distribution, two needs would be blended into something that is neither. Luckily it has more.", "As a head has only one distribution, two needs are blended into something that is neither. Luckily there are more heads."),
        ("forward-scale", "adam-step", "Some maintain that Adam steps by the learning rate whatever a parameter's size. It isn't: its second moment shrinks along with the weight.", "Adam steps by the learning rate whatever a parameter's size. It isn't SGD."),
    ],
    "what minus infinity does, and to what": [
        ("causal-mask-place", "exact-zero", "exp(-inf) is a small positive number, so a future token keeps a trace of weight.", "exp(-inf) is no small positive number but 0, so a future token keeps no weight."),
        ("causal-mask-place", "before-softmax", "One adds minus infinity to the values of later tokens before the weighted sum.", "One adds minus infinity to the scores of later tokens before the softmax."),
        ("causal-mask-place", "before-softmax", "The mask goes on the probabilities that the softmax puts out, minus infinity for future ones.", "The mask goes on the scores that the softmax takes in, minus infinity for future ones."),
        ("causal-mask-place", "exact-zero", "Ahead of the softmax minus infinity is added, the later tokens' weights are not exactly nil.", "Ahead of the softmax minus infinity is added, the later tokens' weights are exactly nil."),
        ("causal-mask-place", "exact-zero", "Scores with j > i are set to zero before the softmax; exp(0) = 0, so these tokens have no weight.", "Scores with j > i are set to -inf before the softmax; exp(-inf) = 0, so these tokens have no weight."),
        ("causal-mask-place", "normaliser", "After the softmax would be fine too: the normaliser isn't affected by future tokens.", "After the softmax would be too late: the normaliser is affected by future tokens."),
        ("causal-mask-place", "normaliser", "Masked after the softmax, the denominator would be 0.", "Masked after the softmax, the denominator would be too large."),
    ],
    "how the size goes with the width": [
        ("mup-scale", "width-transfer", "Dividing by d_k makes the logits smaller the wider the model.", "Dividing by d_k makes the logits equally large at every width."),
        ("mup-scale", "width-transfer", "muP is concerned with what remains the same when a model is made wider.", "muP makes the logits remain the same when a model is made wider."),
        ("mup-scale", "linear-growth", "The trained logits get smaller like d_k the wider the head is.", "The trained logits get larger like d_k the wider the head is."),
    ],
    "whose step, and in which units": [
        ("forward-scale", "adam-step", "With SGD each step is about lr in size no matter how big the weight is.", "With Adam each step is about lr in size no matter how big the weight is."),
        ("forward-scale", "adam-step", "Adam's step is about the weight's own size times the learning rate.", "Adam's step is about the learning rate whatever the weight's own size."),
        ("forward-scale", "relative-update", "Large weights change by a huge fraction and small ones hardly at all.", "Small weights change by a huge fraction and large ones hardly at all."),
    ],
    "one of the two, or both; some of it, or said": [
        ("qk-norm", "what", "The query, and only the query, has its length normalised.", "The query and the key have their length normalised."),
        ("qk-norm", "what", "Queries and keys are normalised over the sequence axis, after the softmax.", "Queries and keys are normalised over the head's components, before the product."),
        ("qk-norm", "failure", "It's against instabilities in training of some kind.", "It's against instabilities in training from growing logits."),
        ("qk-norm", "bounded", "The logit is bounded by the norms of q and k and grows with the weights.", "The logit is bounded by the gain, whatever the weights do."),
    ],
    "of what, and with which sign": [
        ("single-head-average", "convex", "The weights can have any sign, they only sum to one, so the output may lie outside of the values.", "The weights can't have any sign, they're positive and sum to one, so the output can't lie outside of the values."),
        ("single-head-average", "convex", "The output is a weighted average of the keys with weights that sum to one.", "The output is a weighted average of the values with weights that sum to one."),
        ("single-head-average", "convex", "There is a distribution over the queries, columns sum to one, and the outputs get blended.", "There is a distribution over the keys, rows sum to one, and the values get blended."),
        ("single-head-average", "blend-loses", "Several heads are averaged and look at different things.", "Several heads are concatenated and look at different things."),
    ],
    "where the gradient is zero": [
        ("softmax-jacobian", "vanishes", "It vanishes for the uniform distribution, no gradient passes there.", "It vanishes for a one-hot distribution, no gradient passes there."),
        ("softmax-jacobian", "vanishes", "At a one-hot p it's zero for the winner but one in its column for the rest.", "At a one-hot p it's zero for the winner and zero in its column for the rest."),
        ("softmax-jacobian", "substitution", "At a one-hot p both matrices are the same identity.", "At a one-hot p both matrices are the same lone 1."),
        ("unlearnable", "dead-gradient", "Large scores flatten the softmax towards uniform and the gradient to W_Q and W_K is averaged away.", "Large scores push the softmax towards one-hot and the gradient to W_Q and W_K vanishes."),
        ("unlearnable", "frozen-pattern", "V freezes as it was at the start; the attention pattern keeps moving.", "The attention pattern is frozen as it was at the start; V keeps moving."),
    ],
    "mean, variance and what they're of": [
        ("score-variance", "term-moments", "A product of two such entries has mean one, and variance one.", "A product of two such entries has mean zero, and variance one."),
        ("score-variance", "variances-add", "As the terms are correlated their variances add to d_k.", "As the terms are uncorrelated their variances add to d_k."),
        ("score-variance", "variances-add", "The variance comes to sqrt(d_k) and the standard deviation is d_k.", "The variance comes to d_k and the standard deviation is sqrt(d_k)."),
        ("score-variance", "std", "Their typical size is d_k.", "Their typical size is the root of d_k, the standard deviation."),
    ],
}
ROWS = [(*row, name) for name, rows in CLASSES.items() for row in rows]


def earned(question: str, answer: str) -> tuple[str, ...]:
    """By the rubric alone."""
    return mark(replace(BANK.get(question), learned=None), answer).earned


@pytest.mark.parametrize(("question", "point", "wrong", "right", "name"), ROWS)
def test_a_claim_turned_round_earns_nothing_and_its_right_twin_earns(question: str, point: str, wrong: str, right: str, name: str) -> None:
    assert point not in earned(question, wrong), name
    assert point in earned(question, right), name


def test_a_right_point_beside_two_wrong_ones_is_kept() -> None:
    answer = "Large scores make the softmax one-hot. There the Jacobian is at its steepest. The pattern jumps about from step to step."

    assert earned("unlearnable", answer) == ("saturation",)


def test_terms_between_commas_with_a_sign_or_two_among_them_are_a_list() -> None:
    assert earned("forward-scale", "reparametrisation, fourth root of d_k, Adam, lr-sized steps, relative change, logit drift, same function, t=0") == ()
    assert "adam-step" in earned("forward-scale", "Adam's move is lr for each parameter, tiny or not; for tiny ones that's a revolution.")


@pytest.mark.parametrize("terms", [
    "Relevant considerations include the equivalence at initialisation, the factor d_k^(-1/4), Adam, the learning rate, parameter size, relative change, and the range of logits.",
    "One speaks here of equivalence at initialisation, of Adam, of the learning rate, of small weights, of relative change, and of ranges of logits.",
])
def test_terms_in_a_sentence_that_only_says_that_they_matter_are_a_list(terms: str) -> None:
    assert earned("forward-scale", terms) == ()
    assert "relative-update" in earned("forward-scale", terms + " Adam's step is lr, so small weights get a large relative change. The logits leave their range at once.")


def test_a_power_in_words_is_a_root() -> None:
    assert "std" in earned("score-variance", "A raw score's standard deviation is d_k to the power one half.")
    assert "std" not in earned("score-variance", "A raw score's standard deviation is d_k to the power one.")


def test_a_negator_ends_where_the_next_sentence_of_a_dictated_answer_begins() -> None:
    said = "one head has one set of weights for every query so say the verb wants its subject and its object half of each is not a thing you can use "

    assert "blend-loses" in earned("single-head-average", said + "with two heads you get one of each side by side")
    assert "blend-loses" not in earned("single-head-average", said + "and two heads do not get you one of each side by side")
