"""Families of instances: which instances belong together, by folder, name, pattern or table."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle, islice
from random import Random

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import shuffled
from paramhs.core.runs import Instance
from paramhs.core.text.quoting import short

Families = Mapping[str, str]
"""Family of each instance, by the instance's name."""

RULES = ("auto", "folder", "name", "none")
MAX_FAMILIES = 20  # families inferred from names without being asked


def families_by(rule: str, names: Iterable[str]) -> dict[str, str]:
    """Assign a family to each instance name.

    Args:
        rule: "folder", "name" (the file name without digits), "auto" (the first of these two that
            gives families of at least two instances, or else no families), "none", or a regular
            expression. The family is the first group of its match, or the whole match.
        names: Names of the instances.

    Returns:
        The family of each name; empty if there are no families.

    Raises:
        BadInput: The regular expression is invalid, or does not match a name.

    Examples:
        >>> families_by("folder", ["random/1.cnf", "flat/1.cnf"])
        {'random/1.cnf': 'random', 'flat/1.cnf': 'flat'}
    """
    listed = list(dict.fromkeys(names))
    if rule == "none":
        return {}
    if rule == "auto":
        told = told_by_names(listed)
        few = len(set(told.values())) <= MAX_FAMILIES
        return {name: _tidy(family) for name, family in told.items()} if few else {}
    if rule in _BY_NAME:
        return {name: _tidy(_BY_NAME[rule](name)) for name in listed}
    return {name: _matched(_pattern(rule), name) for name in listed}


def told_by_names(names: Sequence[str]) -> dict[str, str]:
    """Families by folder, or else by the file name without digits.

    Empty if there would be one family only, or one with a single instance.
    """
    for family in _BY_NAME.values():
        made = {name: family(name) for name in names}
        sizes = [len(members) for members in grouped(made).values()]
        if len(sizes) > 1 and min(sizes) > 1:
            return made
    return {}


def grouped(families: Families) -> dict[str, list[str]]:
    """Names of the instances of each family, in the order of the table."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, family in families.items():
        groups[family].append(name)
    return dict(groups)


def checked_families(families: Families, names: Sequence[str]) -> dict[str, str]:
    """Return the families of these instances; each instance must have one.

    Raises:
        BadInput: The table lacks an instance, or names one that does not exist.
    """
    missing = [name for name in names if name not in families]
    if missing:
        raise BadInput(f"families: instance {short(missing[0])} has no family")
    unknown = [name for name in families if name not in set(names)]
    if unknown:
        raise BadInput(f"families: there is no instance {short(unknown[0])}")
    bad = next((one for one in families.values() if not isinstance(one, str)), None)
    if bad is not None:
        raise BadInput(f"families: a family is a text, not {short(bad)}")
    return {name: families[name] for name in names}


def in_blocks(
    instances: Sequence[Instance], families: Families, rng: Random, once: bool
) -> list[Instance]:
    """Order instances so that each block has one instance of each family.

    Instances and families come in random order. Smaller families repeat until all instances of the
    largest are listed, so that each family is listed equally often; with `once`, a family that has
    no instance left is missing from later blocks.

    Source: the blocks of irace (its option `blockSize`), for families of unequal size.
    """
    groups: dict[str, list[Instance]] = defaultdict(list)
    for instance in shuffled(instances, rng):
        groups[families[instance.name]].append(instance)
    orders = [groups[family] for family in shuffled([*groups], rng)]
    longest = max(map(len, orders))
    columns = orders if once else [list(islice(cycle(order), longest)) for order in orders]
    return [column[k] for k in range(longest) for column in columns if k < len(column)]


def _pattern(rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule)
    except re.error as error:
        known = ", ".join(RULES)
        raise BadInput(
            f"families: {short(rule)} is neither one of {known} nor a regular expression ({error})"
        ) from None


def _matched(pattern: re.Pattern[str], name: str) -> str:
    found = pattern.search(name)
    if found is None:
        raise BadInput(f"families: {short(pattern.pattern)} does not match instance {short(name)}")
    return (found[1] if pattern.groups else found[0]) or ""


def _stem(name: str) -> str:
    return re.sub(r"\d+", "", os.path.basename(name).split(".")[0])


def _tidy(family: str) -> str:
    return family.strip("-_ ") or family


_BY_NAME: Mapping[str, Callable[[str], str]] = {"folder": os.path.dirname, "name": _stem}
