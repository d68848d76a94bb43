"""Text for people: numbers, quoting and HTML."""
