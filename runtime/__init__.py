"""greenroom runtime."""
