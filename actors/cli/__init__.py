"""The command `greenroom`: one file for each subcommand, `main` on top. Programs use `actors` instead."""
