"""Analysis of finished searches: verdicts, evidence, importance, failures."""
