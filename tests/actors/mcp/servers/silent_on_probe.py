"""Does not answer what it does not know."""

from typing import Any

from .peer import Message, Peer


class SilentOnProbe(Peer):
    """See the module."""

    def on_server_discover(self, _: Any, __: Message) -> None:
        """Nothing."""


if __name__ == "__main__":
    SilentOnProbe().run()
