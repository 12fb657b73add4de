"""People sign in and out. Programs use keys instead.

The routes under ``/sign-in`` need no key. The two that a browser navigates to answer with redirects: to the provider,
and back into the page, never anywhere else.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse
from fastapi.responses import Response as HttpResponse
from pydantic import Field

from ragstone.history.sessions import SIGN_IN_SECONDS
from ragstone.serve.http import errors, messages
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.errors import REQUEST_ID, Refused
from ragstone.serve.http.networks import is_own_host
from ragstone.serve.http.service import Here, Service
from ragstone.serve.http.sign_in import cookies
from ragstone.serve.http.sign_in.desk import ProviderAnswer
from ragstone.serve.http.sign_in.failures import Reason, SignInFailed
from ragstone.serve.http.telemetry import LOGGER

PAGE = "../"
"""The page, from the two routes that redirect to it. A relative address leads to no other host, whatever was sent."""
FAILED = "#/sign-in/"
"""The place in the page that tells why a sign-in failed."""


# ---------------------------------------------------------------- messages
class SignInWays(messages.Response):
    """How people can sign in here."""

    provider: str | None = Field(description="name of the provider of OpenID Connect, if there is one")
    passwords: bool = Field(description="whether there are users with passwords")


class Credentials(messages.Request):
    """A name and a password."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    password: Annotated[str, Field(min_length=1, max_length=1_000)]


class PasswordChange(messages.Request):
    """A person's password, and the one that replaces it."""

    current: Annotated[str, Field(min_length=1, max_length=1_000)]
    new: Annotated[str, Field(min_length=1, max_length=1_000)]


class SignedOut(messages.Response):
    """The session is over."""

    address: str | None = Field(description="where to go on to sign out at the provider, too")


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["people"])


@router.get("/sign-in", responses={**errors.READING})
async def ways(service: Here) -> SignInWays:
    """Return how people can sign in."""
    desk = service.sign_in
    return SignInWays(provider=desk.provider.name if desk.provider else None, passwords=await desk.takes_passwords())


@router.post("/sign-in", status_code=204, responses={**errors.CHANGING})
async def sign_in(body: Credentials, request: Request, service: Here) -> HttpResponse:
    """Sign in with a name and a password; the response sets the cookie of the session. Only the page may do this."""
    cookies.check_page(request.scope)
    cookie = await service.sign_in.by_password(body.name, body.password, _machine(request))
    await _end_old(request, service)
    response = HttpResponse(status_code=204)
    cookies.put(response, "session", cookie, request.scope, service.settings, service.sign_in.seconds)
    return response


@router.post("/sign-in/password", status_code=204, responses={**errors.CHANGING})
async def change_password(body: PasswordChange, request: Request, service: Here, caller: Reading) -> HttpResponse:
    """Change the password of the person who is signed in. All their sessions end; this browser gets a new one."""
    cookies.check_page(request.scope)
    if caller.session is None or caller.session.via != "password":
        raise Refused("forbidden", "only people who sign in with a password here can change it")
    cookie = await service.sign_in.change_password(caller.session.name, body.current, body.new, _machine(request))
    await service.noted(caller, "user.password", caller.session.name)
    response = HttpResponse(status_code=204)
    cookies.put(response, "session", cookie, request.scope, service.settings, service.sign_in.seconds)
    return response


@router.get("/sign-in/provider", status_code=303, response_class=RedirectResponse, responses={**errors.READING})
async def to_provider(
    request: Request,
    service: Here,
    place: Annotated[str, Query(max_length=2_000, description="where in the page to go on, such as `#/sources`")] = "",
) -> RedirectResponse:
    """Send the browser to the provider."""
    try:
        begun = await service.sign_in.to_provider(place, _redirect_uri(request, service), _machine(request))
    except SignInFailed as error:
        return _failed(error, request, service)
    response = RedirectResponse(begun.address, 303)
    cookies.put(response, "sign-in", begun.cookie, request.scope, service.settings, SIGN_IN_SECONDS)
    return response


@router.get("/sign-in/callback", status_code=303, response_class=RedirectResponse, responses={**errors.READING})
async def from_provider(
    request: Request,
    service: Here,
    state: Annotated[str, Query(max_length=4_000)] = "",
    code: Annotated[str, Query(max_length=4_000)] = "",
    error: Annotated[str, Query(max_length=1_000)] = "",
    iss: Annotated[str | None, Query(max_length=1_000)] = None,
) -> RedirectResponse:
    """Take the browser back from the provider, begin a session, and send it to the page."""
    scope, settings = request.scope, service.settings
    answer = ProviderAnswer(state=state, code=code, error=error, issuer=iss, address=_machine(request))
    try:
        begun = cookies.read("sign-in", scope, settings)
        cookie, place = await service.sign_in.from_provider(answer, begun, _redirect_uri(request, service))
    except SignInFailed as failure:
        return _failed(failure, request, service)
    await _end_old(request, service)
    response = RedirectResponse(PAGE + place, 303)
    cookies.put(response, "sign-in", "", scope, settings, 0)
    cookies.put(response, "session", cookie, scope, settings, service.sign_in.seconds)
    return response


@router.post("/sign-out", responses={**errors.CHANGING})
async def sign_out(request: Request, response: HttpResponse, service: Here, caller: Reading) -> SignedOut:
    """End the session of the caller's cookie. A key is not affected."""
    cookie = cookies.read("session", request.scope, service.settings)
    if caller.session is None:
        return SignedOut(address=None)
    await service.sign_in.sign_out(cookie)
    cookies.put(response, "session", "", request.scope, service.settings, 0)
    provider = service.sign_in.provider
    if provider is None or caller.session.via != "oidc":
        return SignedOut(address=None)
    try:
        return SignedOut(address=await provider.sign_out_address(_page(request, service)))
    except SignInFailed:
        return SignedOut(address=None)


async def _end_old(request: Request, service: Service) -> None:
    """End the session that the browser had: whoever signs in again leaves none behind."""
    if old := cookies.read("session", request.scope, service.settings):
        await service.sign_in.sign_out(old)


def _failed(error: SignInFailed, request: Request, service: Service) -> RedirectResponse:
    """Send the browser to the page, which tells the reason in the person's language; the details are for the log."""
    LOGGER.warning("sign-in", {"id": request.scope[REQUEST_ID], "reason": error.reason, "details": str(error)})
    reason: Reason = error.reason
    response = RedirectResponse(f"{PAGE}{FAILED}{reason}", 303)
    cookies.put(response, "sign-in", "", request.scope, service.settings, 0)
    return response


def _page(request: Request, service: Service) -> str:
    """Return the address of the page as the provider is told it, with a slash at the end.

    Raises:
        SignInFailed: the request may name the host of somebody else.
    """
    if not service.settings.url and not is_own_host(request, service.settings):
        host = request.headers.get("host", "")
        advice = "set serve.url to the address of the page, or add the name to serve.names"
        raise SignInFailed("provider", f"the host name {host!r:.100} is unknown; {advice}")
    return service.page_address(request)


def _redirect_uri(request: Request, service: Service) -> str:
    return f"{_page(request, service)}sign-in/callback"


def _machine(request: Request) -> str:
    return request.client.host if request.client else ""
