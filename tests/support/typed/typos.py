"""Typos in names, which type checkers find: one in each call."""

import paramhs

paramhs.tune(lambda c: 1.0, {"x": (0, 1)}, budget=3, executor="proceses")
paramhs.tune(lambda c: 1.0, {"x": (0, 1)}, budget=3, configurator="paramh")
paramhs.AskTell({"x": (0, 1)}, cost="maximse")
paramhs.tune(lambda c: 1.0, {"x": (0, 1)}, budget=3, capping="nne")
