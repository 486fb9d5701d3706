"""Offers a revision that nobody knows."""

from .peer import Peer


class WrongVersion(Peer):
    """See the module."""

    version = "1999-01-01"


if __name__ == "__main__":
    WrongVersion().run()
