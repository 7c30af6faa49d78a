"""Functions of the header in C.

"@" stands for the prefix, "$" for the same in capitals. "~" is nothing where rows hold all
features and "_used" where they hold those that are read, and "%" is 1 and 0.
"""

READ = """\
static inline @_value @_read(const @_value *x, int all, size_t u)
{
    return all ? x[@_used[u]] : x[u];
}
"""

SCORES = """\
static inline void @_scores~(const @_value *x, @_score *scores)
{
    @_add_up(x, %, scores);
}
"""

BEST = """\
static inline int @_best(const @_score *scores)
{
    int best = 0, c;
    for (c = 1; c < $_N_CLASSES; ++c)
        if (scores[c] > scores[best]) best = c;
    return best;
}
"""

PREDICT = """\
/* The number of the class with the largest score, of the first one of equals. */
static inline int @_predict~(const @_value *x)
{
    @_score scores[$_N_CLASSES];
    @_scores~(x, scores);
    return @_best(scores);
}
"""

PREDICT_LABELS = """\
/* For every label 1 if its score is positive, so that the row has it, and 0 if not. */
static inline void @_predict_labels~(const @_value *x, unsigned char *has)
{
    @_score scores[$_N_CLASSES];
    int c;
    @_scores~(x, scores);
    for (c = 0; c < $_N_CLASSES; ++c)
        has[c] = scores[c] > 0;
}
"""

SOFTMAX = """\
static inline void @_odds(const @_score *scores, @_value *p)
{
    const @_score top = scores[@_best(scores)];
    @_value sum = 0;
    int c;
    for (c = 0; c < $_N_CLASSES; ++c) {
        p[c] = EXP($_FACTOR * (@_value)(scores[c] - top));
        sum += p[c];
    }
    for (c = 0; c < $_N_CLASSES; ++c)
        p[c] /= sum;
}
"""

LOGISTIC = """\
static inline void @_odds(const @_score *scores, @_value *p)
{
    int c;
    for (c = 0; c < $_N_CLASSES; ++c)
        p[c] = 1 / (1 + EXP(-$_FACTOR * (@_value)scores[c]));
}
"""

PROBABILITIES = """\
static inline void @_probabilities~(const @_value *x, @_value *p)
{
    @_score scores[$_N_CLASSES];
    @_scores~(x, scores);
    @_odds(scores, p);
}
"""


def named(code: str, name: str) -> str:
    """Put the prefix into a piece of code."""
    return code.replace("@", name).replace("$", name.upper())


def twice(code: str) -> str:
    """Return a function for rows of all features, and one for rows of those that are read."""
    forms = [code.replace("~", end).replace("%", number) for end, number in _FORMS]
    return "\n".join(forms)


_FORMS = (("", "1"), ("_used", "0"))
