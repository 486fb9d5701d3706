"""Prints a banner and its log where its messages go, blank lines and carriage returns too."""

from .peer import Message, Peer


class Banner(Peer):
    """See the module."""

    def run(self) -> None:
        """A banner first."""
        self.write(b"\xef\xbb\xbf" + "*** welcome \u2764 ***\n\n[1, 2]\n42\n{}\r\n".encode())
        super().run()

    def send(self, message: Message) -> None:
        """Log it, in no encoding, and send it."""
        self.write(b"INFO sending \xff\xfe\r\n\r\n")
        super().send(message)


if __name__ == "__main__":
    Banner().run()
