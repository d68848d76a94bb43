"""Properties are tried on the same examples every time, however slow the machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "paramhs", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("paramhs")
