"""The command `greenroom`: one file for each subcommand, `main` on top. Nothing here is for import by programs."""
