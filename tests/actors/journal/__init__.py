"""Tests of actors.journal."""
