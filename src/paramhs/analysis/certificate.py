"""What is known about the best of a search, how surely, and what more runs would gain."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramhs.analysis.expected_gain import ExpectedGain, expected_gain
from paramhs.analysis.gain_bound import GainBound, gain_bound
from paramhs.analysis.verdict import NoVerdict, Verdict
from paramhs.analysis.win_probability import WinProbability, win_probabilities
from paramhs.core.several_costs import Costs
from paramhs.core.text.html import joined, paragraph

if TYPE_CHECKING:
    from paramhs.search.record import Record

LIMITS = (
    "None of this is about other kinds of instances, other machines or other cutoffs"
    " (docs/explanation/certificate.md)."
)
_FURTHER_PARTS = 10  # the gain is predicted for this part of the runs, as many more


@dataclass(frozen=True)
class Certificate:
    """Statements about the best of a search, each with its own confidence.

    Attributes:
        verdict: The default against the best on runs the search has not chosen by.
        tried: How much better a configuration that was tried could be; None if unknown.
        untried: How likely another draw of a known law is to win a race against the best.
        gain: What a tenth more of the runs would probably gain; None if unknown.
    """

    verdict: Verdict | NoVerdict
    tried: GainBound | None
    untried: tuple[WinProbability, ...]
    gain: ExpectedGain | None

    @property
    def lines(self) -> tuple[str, ...]:
        """The statements, one sentence each; empty if nothing is known.

        The first of all, the mean saving, is printed with the verdict.
        """
        found = [one.text for one in (self.tried, *self.untried, self.gain) if one]
        return (*found, LIMITS) if found else ()

    def __repr__(self) -> str:
        return "\n".join([self.verdict.recommendation, *self.lines])

    def _repr_html_(self) -> str:
        return joined(*map(paragraph, (self.verdict.recommendation, *self.lines)))

    def to_json(self) -> dict[str, object]:
        """Convert the certificate to JSON types."""
        saving = self.verdict.saving if isinstance(self.verdict, Verdict) else None
        return {
            "saving": saving and saving.to_json(),
            "tried": self.tried and self.tried.to_json(),
            "untried": [one.to_json() for one in self.untried],
            "gain": self.gain and self.gain.to_json(),
            "limits": LIMITS,
        }


def certificate(record: "Record", verdict: Verdict | NoVerdict) -> Certificate:
    """The certificate of a record and its verdict."""
    if isinstance(record.scenario.cost, Costs):  # the statements are about one cost
        return Certificate(verdict, None, (), None)
    further = max(len(record.runs) // _FURTHER_PARTS, 1)
    gain = expected_gain(record, further)
    return Certificate(verdict, gain_bound(record), win_probabilities(record), gain)
