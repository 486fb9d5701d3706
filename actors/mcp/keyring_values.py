"""Secrets from the keyring of the operating system, by the references `gaia connectors` writes.

A reference is `gaia.connections:<user>`, for example `gaia.connections:mcp-github:GITHUB_TOKEN`. Only that
service is asked: a file of servers must not hand the passwords of other programs to a server. The library
`keyring` comes with the extra `greenroom[keyring]` and is imported at the first reference. Blocks: a
keyring may ask a person to unlock it.
"""

from __future__ import annotations

from actors.errors import MCPRegistryError

SERVICE = "gaia.connections"


def keyring_value(reference: object) -> str:
    """The secret behind a reference.

    Raises:
        MCPRegistryError: no such reference, no `keyring` library, no such entry, or the keyring failed.
            The message names service and user, never a secret.
    """
    user = _user(reference)
    try:
        import keyring  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise MCPRegistryError(
            "is kept in the keyring, and the library 'keyring' is not installed; "
            "install greenroom[keyring], or write the value as '${NAME}'"
        ) from error
    try:
        value = keyring.get_password(SERVICE, user)
    except Exception as error:  # back-ends are plug-ins and raise what they like
        raise MCPRegistryError(
            f"is kept in the keyring as user {user!r} of service {SERVICE!r}, and the keyring failed: "
            f"{type(error).__name__}: {error}"
        ) from error
    if value is None:
        raise MCPRegistryError(
            f"is kept in the keyring, which has no user {user!r} of service {SERVICE!r}; "
            f"set it with 'keyring set {SERVICE} {user}'"
        )
    return value


def _user(reference: object) -> str:
    """The user a reference names. A malformed one is not shown: it may be the secret itself."""
    service, _, user = reference.partition(":") if isinstance(reference, str) else ("", "", "")
    if service != SERVICE or not user:
        raise MCPRegistryError(
            f"has a $keyring reference that is not '{SERVICE}:<user>'; other services are not asked"
        )
    return user
