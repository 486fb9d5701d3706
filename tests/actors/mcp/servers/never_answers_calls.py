"""Is initialized, and then reads without ever answering."""

from .peer import Message, Peer


class NeverAnswersCalls(Peer):
    """See the module."""

    ready = False

    def handle(self, message: Message) -> None:
        """Nothing, once it is initialized."""
        if not self.ready:
            super().handle(message)

    def notified(self, method: str, params: Message) -> None:
        """The client says that it is."""
        super().notified(method, params)
        self.ready = True


if __name__ == "__main__":
    NeverAnswersCalls().run()
