"""The command `greenroom`: one file for each subcommand, and what they share."""
