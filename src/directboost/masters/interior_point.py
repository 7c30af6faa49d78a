"""The call of Clarabel, the interior-point solver, for a cone program."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .cones import ConeProgram

# Clarabel seldom reaches 1e-12 but goes on until it makes no progress: 100 times more accurate
# on the median than with 1e-10. What it reached is judged by its users, not by its status.
_TOLERANCE = 1e-12


def interior_point(program: ConeProgram, step: float) -> Any:
    """Solve a cone program with steps of at most the fraction `step` of the way to the border.

    The answer has x, the duals z of the rows in order, and the number of iterations.
    """
    import clarabel

    A, b = program.matrix()
    P = sp.diags_array(np.concatenate(program.curvature), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_step_fraction = False, step
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    makers: dict[str, Any] = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "second_order": clarabel.SecondOrderConeT,
        "power": clarabel.PowerConeT,
        "exponential": lambda size: clarabel.ExponentialConeT(),
    }
    cones = [makers[name](size) for name, size in program.cones]
    q = np.concatenate(program.q)
    # The solver takes the matrix classes of scipy, not its newer arrays.
    data = (sp.csc_matrix(P), q, sp.csc_matrix(A), b, cones, settings)
    return clarabel.DefaultSolver(*data).solve()
