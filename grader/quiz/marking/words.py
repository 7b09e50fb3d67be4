"""Words and their one form: contractions, short forms, spellings, irregular verbs, and a light stemmer.

The lexicon and the answer go through the same functions, so a stem needs to be consistent, not pretty.
"""

from __future__ import annotations

from functools import lru_cache

_LISTS = {
    "be": "is are was were been being am 's",
    "have": "has had having",
    "do": "does did done doing",
    "get": "gets got gotten getting gits",
    "go": "goes went going",
    "make": "makes made making",
    "keep": "keeps kept keeping",
    "grow": "grows grew grown growing",
    "lose": "loses lost losing looses loose",
    "become": "becomes became becoming",
    "take": "takes took taken taking",
    "give": "gives gave given giving gimme",
    "blow": "blows blew blown blowing",
    "drive": "drives drove driven driving",
    "come": "comes came coming",
    "see": "sees saw seen seeing",
    "know": "knows knew known knowing",
    "mean": "means meant",
    "find": "finds found finding",
    "feel": "feels felt feeling",
    "hold": "holds held holding",
    "tell": "tells told telling",
    "say": "says said saying",
    "think": "thinks thought thinking",
    "break": "breaks broke broken breaking",
    "shrink": "shrinks shrank shrunk shrunken shrinking",
    "freeze": "freezes froze frozen freezing",
    "stick": "sticks stuck sticking",
    "begin": "begins began begun beginning",
    "build": "builds built building",
    "send": "sends sent sending",
    "hide": "hides hid hidden hiding",
    "choose": "chooses chose chosen choosing",
    "write": "writes wrote written writing",
    "draw": "draws drew drawn drawing",
    "rise": "rises rose risen rising",
    "run": "runs ran running",
    "fall": "falls fell fallen falling",
    "die": "dies died dying",
    "dead": "death",
    "lie": "lies lay lying",
    "throw": "throws threw thrown throwing",
    "stand": "stands stood standing",
    "learn": "learns learned learnt learning",
    "teach": "teaches taught teaching",
    "pay": "pays paid paying",
    "spend": "spends spent spending",
    "fit": "fits fitted fitting",
    "cut": "cuts cutting",
    "put": "puts putting",
    "set": "sets setting",
    "let": "lets letting",
    "split": "splits splitting",
    "vary": "varies varied varying",
    "carry": "carries carried carrying",
    "multiply": "multiplies multiplied multiplying mult",
    "use": "uses used using",
    "cause": "causes caused causing",
    "tie": "ties tied tying",
    "leave": "leaves leaving",  # not "left": a side, too
    "small": "smaller smallest",
    "big": "bigger biggest",
    "large": "larger largest",
    "huge": "hugely ginormous",
    "high": "higher highest",
    "wide": "wider widest",
    "long": "longer longest",
    "weight": "weights weighting weightings weighted wts",
    "value": "values valued vals val",
    "cheap": "cheaper cheapest",
    "fast": "faster fastest",
    "quick": "quicker quickest",
    "slow": "slower slowest",
    "sharp": "sharper sharpest",
    "strong": "stronger strongest",
    "weak": "weaker weakest",
    "short": "shorter shortest",
    "narrow": "narrower narrowest",
    "show": "shows showed shown showing",
    "bring": "brings brought bringing",
    "catch": "catches caught catching",
    "feed": "feeds fed feeding",
    "forget": "forgets forgot forgotten forgetting",
    "lead": "leads led leading",
    "meet": "meets met meeting",
    "speak": "speaks spoke spoken speaking",
    "swing": "swings swung swinging",
    "win": "wins won winning",
    "steal": "steals stole stolen stealing",
    "sit": "sits sat sitting",
    "bend": "bends bent bending",
    "understand": "understands understood understanding",
    "0": "zero zeros zeroes naught nought 0.0",
    "1": "one 1.0 ones",
    "2": "two",
    "3": "three",
    "4": "four", "8": "eight", "10": "ten", "16": "sixteen", "20": "twenty", "32": "thirtytwo", "64": "sixtyfour",
    "zeroed": "zeroing",
    "because": "bc cuz coz becuase becasue becouse cus",
    "through": "thru",
    "though": "tho although",
    "without": "wo",
    "about": "abt",
    "gradient": "grad grads gradients gradeint gradeints",
    "parameter": "param params parameters",
    "hyperparameter": "hyperparam hyperparams hparam hparams hyperparameters hps hp",
    "independent": "indep indepedent independant",
    "average": "avg averages averaged averaging",
    "distribution": "dist distrib distributions",
    "combination": "combo combos combinations",
    "probability": "prob probs probabilities",
    "attention": "attn",
    "multiplication": "matmul",
    "standard": "std. stdv",
    "std": "stddev stdev sd",
    "variance": "var variances vars varience",
    "expect": "expects expected expectation expectations",
    "initialization": "init inits initialisation initialisations initializations initilization initalization",
    "initialize": "initialise initialised initialized initialises initializes initialising initializing initted",
    "function": "fn func functions",
    "sequence": "seq sequences",
    "denominator": "denom denomenator denominators",
    "backprop": "backpropagate backpropagates backpropagation backpropagating backpropagated backprops",
    "jacobian": "jac jacobain jacobians jacobean",
    "covariance": "cov covariances",
    "temperature": "temp temperatures",
    "magnitude": "mag magnitudes",
    "difference": "diff diffs differences",
    "distributions": "dists",
    "not": "nt ain't aint",
    "you": "u ya",
    "between": "btwn btw",
    "position": "pos positions",
    "tokens": "toks",
    "token": "tok tokens",
    "infinity": "infinite infinities",
    "inf": "infs",
    "entry": "entries",
    "query": "queries qs",
    "key": "keys ks",
    "step": "steps stepped stepping stepsize",
    "nan": "nans",
    "mask": "masked masking masks",
    "want to": "wanna",
    "bit": "bits",
    "width": "widths",
    "dimension": "dim dims dimensions dimensional dimensionality",
    "softmax": "sm softmaxes softmaxed softmaxing",
    "logit": "logits",
    "score": "scores scored scoring",
    "matrix": "mtx mat mats matrices mtrx table tables",
    "product": "prod prods products",
    "absolute": "abs",
    "relative": "rel",
    "them": "em",
    "before": "b4",
    "same": "idem samesies",
    "forward": "fwd",
    "backward": "bwd",
    "until": "til till",
    "people": "ppl",
    "coordinate": "coord coords coordinates",
    "projection": "proj projs projections",
    "correlation": "corr",
    "optimizer": "opt optim",
    "transpose": "transposed transp",
    "maximum": "maxes",
}  # fmt: skip
LEMMAS = {form: lemma for lemma, forms in _LISTS.items() for form in forms.split()}

CONTRACTED = {
    "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not", "shan't": "shall not",
    "dont": "do not", "doesnt": "do not", "didnt": "do not", "isnt": "be not", "arent": "be not", "wasnt": "be not", "werent": "be not",
    "hasnt": "have not", "havent": "have not", "hadnt": "have not", "wouldnt": "would not", "couldnt": "could not",
    "shouldnt": "should not", "neednt": "need not", "mustnt": "must not", "mightnt": "might not", "doesn": "do not", "thats": "that be", "theres": "there be", "whats": "what be", "theyre": "they be", "youre": "you be",
    "it's": "it be", "that's": "that be", "there's": "there be", "what's": "what be", "here's": "here be", "let's": "let us",
    "theyll": "they will", "youll": "you will", "itll": "it will", "ive": "i have", "im": "i be", "i'm": "i be", "gonna": "go to",
    "idk": "i do not know", "dunno": "do not know", "hes": "he be", "heres": "here be", "everythings": "everything be", "id": "i would",
    "qs/ks": "query key", "iid": "iid", "nonneg": "non negative", "nonnegative": "non negative", "onehot": "1 hot", "overflow": "overflow",
    "wqs": "w_q", "nonzero": "non 0", "wouldn": "would not", "oneself": "self", "gotta": "have to", "kinda": "", "sorta": "", "tbh": "", "imo": "", "ofc": "",
    "presoftmax": "pre softmax", "postsoftmax": "post softmax", "unlearnable": "un learnable",
}  # fmt: skip

_FILLERS = (
    "a an the just really basically simply actually very pretty quite also literally essentially then now even roughly approximately "
    "nearly almost practically effectively completely totally entirely fully like kind sort well so here there clearly obviously always "
    "immediately quickly rapidly would will can could should may might must do ever please anyway"
)
FILLERS = frozenset(_FILLERS.split())
_NEGATORS = "not no never neither nor none nothing nobody nowhere without hardly barely scarcely cannot lack lacks non"
NEGATORS = frozenset(_NEGATORS.split())

_AS_THEY_ARE = (
    "nothing during thing something anything everything being bias always less unless across process cross gaussian axis basis analysis "
    "loss class mass pass miss access plus minus thus this various nous focus versus red bed need feed speed indeed hundred seed "
    "string bring ring spring king sing wing"
)
_KEPT = frozenset(_AS_THEY_ARE.split())


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """`adds`, `added`, `adding` -> `add`; the same for both sides, so collisions are all that matters."""
    word = LEMMAS.get(word, word)
    if not word.isalpha() or len(word) < 4 or word in _KEPT:
        return word
    word = american(word)
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > 4:
            return word[:-3] + "y"
    for ending in ("ing", "ed"):
        root = word[: -len(ending)]
        if word.endswith(ending) and len(root) >= 3 and any(c in "aeiouy" for c in root):
            return _undouble(root)
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _undouble(root: str) -> str:
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "sl":
        return root[:-1]
    if root.endswith("ll") and len(root) > 4:
        return root[:-1]
    return root[:-1] if root.endswith("e") and len(root) > 4 else root


def american(word: str) -> str:
    """`normalise` -> `normalize`."""
    for british in ("ise", "ised", "ises", "ising", "isation", "isations", "iser"):
        if word.endswith(british) and len(word) - len(british) >= 4:
            return word[: -len(british)] + "iz" + british[2:]
    return word.replace("aviour", "avior").replace("olour", "olor").replace("avour", "avor").replace("entred", "entered")


def distance(one: str, two: str, most: int) -> int:
    """Edits (insert, delete, replace, swap of neighbours) between two words, or `most + 1` where it is more."""
    if abs(len(one) - len(two)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        last, row, older = row, [i] + [0] * len(two), before
        for j, b in enumerate(two, 1):
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                row[j] = min(row[j], older[j - 2] + 1)
        before = last
        if min(row) > most:
            return most + 1
    return row[-1]
