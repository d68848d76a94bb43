"""Programs that maintain the project: generated reference pages."""
