"""The optimization problem: objective, restricted master problem, columns."""
