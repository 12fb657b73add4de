"""Where people sign in and out: what ties the provider, the passwords and the sessions together."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.core.access import Reader
from ragstone.core.errors import MissingExtra, UsageError
from ragstone.core.frozen import frozen
from ragstone.history.keys import Scope, canonical
from ragstone.history.sessions import Sessions, SignIn, name_at
from ragstone.history.store import JournalStore
from ragstone.history.users import Users, same_name
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.networks import network_of
from ragstone.serve.http.sign_in.failures import SignInFailed
from ragstone.serve.http.sign_in.throttle import Throttle
from ragstone.settings import ServeSettings
from ragstone.settings.serve import OidcSettings

if TYPE_CHECKING:
    from ragstone.serve.http.sign_in.provider import Provider

FREE_OF_BOTH, FREE_OF_NAME, FREE_OF_ADDRESS = 5, 50, 30
"""Attempts without a wait: for a name from one address, for a name from anywhere, and from one address."""
LONG_WAIT = 30.0
"""Seconds to wait at first after so many attempts for a name, or from an address; long, because a crowd sends them."""
HASHES_AT_ONCE = 2
"""Each takes the memory of one password's hash."""
_PLACE = re.compile(r"#/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]{0,2000}")
"""A place within the page. Nothing else is ever redirected to."""
_LONGEST_SENT = 4_000
"""Characters of a state or code."""


@frozen
class Begun:
    """The provider's address to go to, and the cookie that ties its answer to this browser."""

    address: str
    cookie: str


class SignInDesk:
    """People sign in and out here. It throttles those who guess."""

    def __init__(self, journal: JournalStore, settings: ServeSettings, throttle: Throttle) -> None:
        """Take a connection of its own to the journal, the settings of the server, and what slows down who guesses.

        Raises:
            SettingsError: the provider's settings are incomplete.
            MissingExtra: a package that a provider needs is not installed.
        """
        self._journal, self._users, self._sessions = journal, Users(journal), Sessions(journal)
        self._settings, self.throttle = settings, throttle
        self._hashing = asyncio.Semaphore(HASHES_AT_ONCE)
        self.provider = _provider(settings.oidc) if settings.oidc.issuer else None

    @property
    def seconds(self) -> float:
        """How long a session lasts at most."""
        return self._settings.sessions.hours * 3_600

    def close(self) -> None:
        """Close the journal."""
        self.throttle.close()
        self._journal.close()

    async def takes_passwords(self) -> bool:
        """Return whether anybody can sign in with a password.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return bool(await asyncio.to_thread(self._users.all))

    async def by_password(self, name: str, password: str, address: str) -> str:
        """Return the cookie of a new session.

        Raises:
            Refused: name or password is wrong, or the attempt comes too soon.
            KnowledgeBaseError: the journal cannot be used.
        """
        same, network = same_name(name), network_of(address)
        both, by_name, by_address = ("both", same, network), ("name", same), ("address", network)
        async with self._hashing:
            # Counted only now: in the time that many tries at once wait for their turn, a refusal would be over.
            self.throttle.attempt(both, FREE_OF_BOTH)
            for who, free in ((by_name, FREE_OF_NAME), (by_address, FREE_OF_ADDRESS)):
                self.throttle.attempt(who, free, LONG_WAIT)
            cookie = await asyncio.to_thread(self._users.begin_session, name, password, self.seconds)
        if cookie is None:
            raise Refused("unauthorized", "the name or the password is wrong")
        self.throttle.succeed(both)
        for who in (by_name, by_address):  # whoever has one account must not get free guesses at others with it
            self.throttle.succeed(who, forget=False)
        return cookie

    async def change_password(self, name: str, current: str, new: str, address: str) -> str:
        """Change a person's password, end their sessions, and return the cookie of a new one.

        Raises:
            Refused: the current password is wrong, or the attempt comes too soon.
            UsageError: the new password is weak.
            KnowledgeBaseError: the journal cannot be used.
        """
        checked = await self.by_password(name, current, address)
        try:
            async with self._hashing:
                await asyncio.to_thread(self._users.set_password, name, new)
        except UsageError:
            await self.sign_out(checked)
            raise
        return await self.by_password(name, new, address)

    async def to_provider(self, place: str, redirect_uri: str, address: str) -> Begun:
        """Begin a sign-in through the provider.

        Args:
            place: in the page, to go on at; anything else is ignored.
            redirect_uri: where the provider sends the browser back.
            address: of the browser's machine.

        Raises:
            SignInFailed: the provider cannot be used.
            Refused: the attempt comes too soon.
            KnowledgeBaseError: the journal cannot be written.
        """
        if self.provider is None:
            raise SignInFailed("provider", "the setting serve.oidc.issuer names no provider")
        from ragstone.serve.http.sign_in.provider import new_secret

        self.throttle.attempt(("provider", network_of(address)), FREE_OF_ADDRESS)
        kept = SignIn(nonce=new_secret(), verifier=new_secret(), place=place if _PLACE.fullmatch(place) else "#/")
        state, cookie = await asyncio.to_thread(self._sessions.begin_sign_in, kept)
        to = await self.provider.address(redirect_uri, state, kept.nonce, kept.verifier)
        return Begun(address=to, cookie=cookie)

    async def from_provider(self, answer: ProviderAnswer, cookie: str, redirect_uri: str) -> tuple[str, str]:
        """Return the cookie of a new session, and the place in the page to go on at.

        Raises:
            SignInFailed: the answer does not belong to a sign-in of this browser, or the person may not sign in.
            Refused: the address made too many attempts.
            KnowledgeBaseError: the journal cannot be used.
        """
        if self.provider is None:
            raise SignInFailed("provider", "the setting serve.oidc.issuer names no provider")
        if not answer.state or not cookie or max(map(len, (answer.state, answer.code, cookie))) > _LONGEST_SENT:
            raise SignInFailed("expired", "the answer has no state, or the browser no cookie")
        begun = await asyncio.to_thread(self._sessions.take_sign_in, answer.state, cookie)
        if begun is None:
            raise SignInFailed("expired", "no sign-in of this browser has this state, or it is over")
        await self.provider.check_issuer(answer.issuer)
        if answer.error or not answer.code:
            raise SignInFailed("declined", f"the provider answers {answer.error!r:.100}")
        person = await self.provider.person(answer.code, redirect_uri, begun.nonce, begun.verifier)
        rights = rights_of(person.groups, self._settings.oidc)
        if rights is None:
            raise SignInFailed("not_allowed", "the person is in no group of serve.oidc.may_sign_in")
        self.throttle.succeed(("provider", network_of(answer.address)))
        name = name_at(self._settings.oidc.issuer, person.subject)
        begin = self._sessions.begin
        return await asyncio.to_thread(begin, name, person.shown, "oidc", *rights, self.seconds), begun.place

    async def sign_out(self, cookie: str) -> None:
        """End a session.

        Raises:
            KnowledgeBaseError: the journal cannot be written, and the session goes on.
        """
        await asyncio.to_thread(self._sessions.end, cookie)


@frozen
class ProviderAnswer:
    """What a browser brings back from the provider, and the address of its machine."""

    state: str
    code: str
    error: str
    issuer: str | None
    address: str


def rights_of(groups: Sequence[str], settings: OidcSettings) -> tuple[tuple[Scope, ...], tuple[str, ...] | None] | None:
    """Return the scopes and groups of a person in these groups; None if they may not sign in."""
    own = Reader(groups=frozenset(groups)).groups or frozenset()

    def is_in(named: Sequence[str]) -> bool:
        return not own.isdisjoint(canonical(named) or ())

    if settings.may_sign_in and not is_in(settings.may_sign_in):
        return None
    scopes: list[Scope] = ["read"]
    if is_in(settings.may_write):
        scopes.append("write")
    if is_in(settings.may_administer):
        scopes.append("admin")
    return tuple(scopes), None if is_in(settings.may_read_all) else tuple(sorted(own))


def _provider(settings: OidcSettings) -> Provider:
    try:
        from ragstone.serve.http.sign_in.provider import Provider
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "jwt", extra="serve") from error
    return Provider(settings)
