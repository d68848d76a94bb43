"""Origin of code: the user's own files, installed packages, Python itself, or paramhs."""

import os
import sys
import sysconfig
from functools import cache
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

MAIN = ("__main__", "__mp_main__")
_INSTALLED = ("/site-packages/", "/dist-packages/")


def is_own(module: str) -> bool:
    """Whether a module is the user's own code, which may change between two searches."""
    if module in MAIN or not module:
        return True
    top = module.partition(".")[0]
    if top == "paramhs" or top.startswith("namedtuple_"):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file:  # built into Python, or created at run time
        return top not in sys.stdlib_module_names
    return is_own_file(file)  # the user's module may have the name of a standard one


def is_own_file(path: str) -> bool:
    """Whether a source file belongs neither to Python nor to an installed package."""
    path = path.replace("\\", "/")
    return not any(part in path for part in _INSTALLED) and not path.startswith(_standard())


def own_spec(module: str) -> ModuleSpec | None:
    """Find the user's own module without importing it; None for all others."""
    top, *inner = module.split(".")
    if top in ("paramhs", *MAIN):
        return None
    try:
        found, name = find_spec(top), top
        for part in inner:
            name = f"{name}.{part}"
            path = found and found.submodule_search_locations
            found = PathFinder.find_spec(name, path) if path else None
    except (ImportError, ValueError, AttributeError):  # it names no module
        return None
    own = found is not None and found.has_location and is_own_file(str(found.origin))
    return found if own else None


@cache
def _standard() -> tuple[str, ...]:
    found = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    folders = {os.path.dirname(os.__file__), *filter(None, found)}
    return tuple(f"{path}/".replace("\\", "/") for path in folders)


@cache
def installed_version(module: str) -> tuple[str, str]:
    """Name and version of the package that contains a module; empty for Python and paramhs."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "paramhs" or top.startswith("namedtuple_"):
        return "", ""
    version = getattr(sys.modules.get(top), "__version__", None)
    if not isinstance(version, str):
        try:
            version = metadata.version(top)
        except (metadata.PackageNotFoundError, ValueError):
            version = ""
    return top, version


def module_of(thing: object) -> str:
    """Name of the module that an object claims to come from."""
    if isinstance(thing, ModuleType):
        return thing.__name__
    module = getattr(thing, "__module__", None)
    return module if isinstance(module, str) else ""


def name_of(thing: object) -> str:
    """Return `module:name`; the name alone for the main program, Python and paramhs."""
    module = module_of(thing)
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    name = name if isinstance(name, str) else type(thing).__qualname__
    bare = module in ("", "builtins", *MAIN) or module.partition(".")[0] == "paramhs"
    return name if bare else f"{module}:{name}"
