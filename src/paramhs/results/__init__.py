"""What is made of a search: verdicts, evidence, landscapes."""
