"""Profiles: `quick` for every day and CI (reproducible), `deep` for a long look: HYPOTHESIS_PROFILE=deep."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick",
    max_examples=30,
    stateful_step_count=14,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate),  # shrinking may take minutes: that is what `deep` is for
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "deep", max_examples=3000, stateful_step_count=40, deadline=None, suppress_health_check=SLOW_IS_FINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
