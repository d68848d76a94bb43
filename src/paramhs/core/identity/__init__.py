"""Identity by content: the code and values on which the answers of a target depend.

A description says what an object is called; an identity says what it does. Two programs with the
same name have equal descriptions and different identities.
"""

from paramhs.core.identity.parts import Identity
from paramhs.core.identity.walk import identity_of

__all__ = ["Identity", "identity_of"]
