"""The one account of costs: what decides between methods that give the same result.

Times are in nanoseconds of one core unless a field says otherwise. They are calibrated by
``benchmarks/costs.py`` on two cores and decide between methods only, never about results.
"""

# ---------------------------------------------------------------- kernel sums

# ---------------------------------------------------------------- samplers

# ---------------------------------------------------------------- nearest neighbors
