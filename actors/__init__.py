"""greenroom agents."""
