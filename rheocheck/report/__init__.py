"""Reports: verdicts as text."""
