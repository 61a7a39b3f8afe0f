r"""Every mistake, update and loss bound of the family, a pure function each, named as its theorem.

The arguments are the symbols of the theorem:

=============  ====================================================================================
``R``          the largest :math:`\|x\|` of the sequence (a constant feature for the bias is in it)
``gamma``      a margin: some unit u has :math:`y\langle u, x\rangle \ge \gamma` on every example
``u_norm``     :math:`\|u\|` of a comparator; unit-margin ones have :math:`\gamma = 1/\|u\|`
``H``, ``TD``  sums of what the comparator misses, see :func:`hinge` and :func:`total_distance`
``n``, ``r``   inputs, and the relevant ones among them
``m``          examples
=============  ====================================================================================

Each returns a float, not rounded to a whole number, and ``math.inf`` where nothing is claimed: a
margin of 0 is such a case. :func:`novikoff`, :func:`novikoff_augmented`, :func:`hinge`,
:func:`hinge_tight` and the best :func:`balanced_winnow` are rounded up, to ``math.inf`` where they
overflow; the others are good to a few units of the last place. A function whose name ends in
``_left`` gives the measured side of its inequality, one in ``_margin`` the margin that a clean pass
guarantees.

Most statements have a short proof that was worked through. Those in :data:`AS_PUBLISHED` were not
proved again: their constants are quoted, and whatever rests on them should name the paper.

>>> novikoff(R=1, gamma=0.5)
4.0
>>> AS_PUBLISHED["squared"]
'Freund and Schapire, Machine Learning 37(3), 1999'
"""

from .aggressive import (
    alma,
    alma_margin,
    mira,
    mira_geometric,
    mira_left,
    mira_margin,
    pa1,
    pa2,
    pa_separable,
    pa_unit,
    romma,
    romma_aggressive,
    romma_aggressive_errors,
    romma_growth,
    romma_margin,
)
from .augmented import augmented_margin, novikoff_augmented
from .beyond import (
    arow,
    crammer_singer,
    forgetron,
    ipm,
    ipm_total,
    multiclass,
    multiclass_hinge,
    multiclass_hinge_tight,
    multiclass_mira,
    multiclass_pa,
    second_order,
    second_order_terms,
    structured,
)
from .multiplicative import (
    balanced_winnow,
    balanced_winnow_total_distance,
    elimination,
    pnorm,
    winnow1,
    winnow1_demotions,
    winnow1_general,
    winnow2,
    winnow2_demotions,
    winnow2_general,
    winnow_promotions,
)
from .perceptron import (
    forced_mistakes,
    harmonic_left,
    harmonic_sum,
    harmonic_updates,
    hinge,
    hinge_tight,
    margin_perceptron,
    margin_perceptron_margin,
    novikoff,
    novikoff_from,
    passes,
    risk_descent_steps,
    single_point_steps,
    squared,
    total_distance,
    total_distance_tight,
    variable_rate,
    variable_rate_left,
)
from .risk import compression, online_to_batch, pac_sample_size, random_hypothesis, share_below, voted

_CRAMMER_2006 = "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, JMLR 7, 2006"
_FREUND_1999 = "Freund and Schapire, Machine Learning 37(3), 1999"
_LITTLESTONE_1988 = "Littlestone, Machine Learning 2, 1988"
_GENTILE_2001 = "Gentile, JMLR 2, 2001"

#: Bounds whose constants are quoted and were not proved again: name of the function -> the paper.
AS_PUBLISHED = {
    "alma": _GENTILE_2001,
    "alma_margin": _GENTILE_2001,
    "arow": "Crammer, Kulesza and Dredze, NIPS 2009",
    "compression": "Floyd and Warmuth, Machine Learning 21, 1995",
    "forgetron": "Dekel, Shalev-Shwartz and Singer, SIAM J. Comput. 37(5), 2008",
    "pac_sample_size": "Cesa-Bianchi, Conconi and Gentile, IEEE Trans. Inf. Theory 50(9), 2004",
    "online_to_batch": "Cesa-Bianchi, Conconi and Gentile, IEEE Trans. Inf. Theory 50(9), 2004",
    "pa1": _CRAMMER_2006,
    "pa2": _CRAMMER_2006,
    "pa_unit": _CRAMMER_2006,
    "pnorm": "Grove, Littlestone and Schuurmans, Machine Learning 43, 2001",
    "romma_aggressive_errors": "Li and Long, Machine Learning 46, 2002",
    "second_order": "Cesa-Bianchi, Conconi and Gentile, SIAM J. Comput. 34(3), 2005",
    "squared": _FREUND_1999,
    "voted": _FREUND_1999,
    "winnow1_general": _LITTLESTONE_1988,
    "winnow2_general": _LITTLESTONE_1988,
}

__all__ = [
    "AS_PUBLISHED",
    "alma",
    "alma_margin",
    "arow",
    "augmented_margin",
    "balanced_winnow",
    "balanced_winnow_total_distance",
    "compression",
    "crammer_singer",
    "elimination",
    "forced_mistakes",
    "forgetron",
    "harmonic_left",
    "harmonic_sum",
    "harmonic_updates",
    "hinge",
    "hinge_tight",
    "ipm",
    "ipm_total",
    "margin_perceptron",
    "margin_perceptron_margin",
    "mira",
    "mira_geometric",
    "mira_left",
    "mira_margin",
    "multiclass",
    "multiclass_hinge",
    "multiclass_hinge_tight",
    "multiclass_mira",
    "multiclass_pa",
    "novikoff",
    "novikoff_augmented",
    "novikoff_from",
    "online_to_batch",
    "pa1",
    "pa2",
    "pac_sample_size",
    "pa_separable",
    "pa_unit",
    "passes",
    "pnorm",
    "random_hypothesis",
    "risk_descent_steps",
    "romma",
    "romma_aggressive",
    "romma_aggressive_errors",
    "romma_growth",
    "romma_margin",
    "second_order",
    "second_order_terms",
    "share_below",
    "single_point_steps",
    "squared",
    "structured",
    "total_distance",
    "total_distance_tight",
    "variable_rate",
    "variable_rate_left",
    "voted",
    "winnow1",
    "winnow1_demotions",
    "winnow1_general",
    "winnow2",
    "winnow2_demotions",
    "winnow2_general",
    "winnow_promotions",
]
