"""Settings of questions that administrators change while the server runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Administering, admin_router
from ragstone.serve.http.live_settings import CHANGEABLE
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.service import Here
from ragstone.settings.load import leaves

Given = (
    Annotated[str, Field(max_length=100)]
    | bool
    | Annotated[int, Field(ge=-(10**9), le=10**9)]
    | Annotated[float, Field(allow_inf_nan=False)]
)


# ---------------------------------------------------------------- messages
class LiveSetting(Response):
    """A setting that can be changed while the server runs."""

    path: str
    description: str
    configured: str | bool | int | float | None = Field(description="what the settings of the server say")
    changed: str | bool | int | float | None = Field(description="what holds instead; null if nothing does")
    at: float | None = Field(description="when it was changed, in seconds since 1970")


class LiveSettingList(Response):
    """The settings that can be changed while the server runs."""

    settings: list[LiveSetting]


class LiveSettingChange(Request):
    """A setting and its new value."""

    path: Annotated[str, Field(max_length=100)]
    value: Given | None = Field(description="null: what the settings of the server say")


# ---------------------------------------------------------------- routes
router = admin_router()


@router.get("/settings", responses={**errors.READING})
async def live_settings(service: Here) -> LiveSettingList:
    """Return the settings that can be changed while the server runs, and what was changed."""
    changed = await service.live.changed()
    configured = {path: (value, info.description or "") for path, info, value in leaves(service.engine.settings)}
    return LiveSettingList(
        settings=[
            LiveSetting(
                path=path,
                description=configured[path][1],
                configured=configured[path][0],
                changed=changed[path].value if path in changed else None,
                at=changed[path].at if path in changed else None,
            )
            for path in CHANGEABLE
        ]
    )


@router.post("/settings", status_code=204, responses={**errors.CHANGING})
async def change_setting(body: LiveSettingChange, service: Here, caller: Administering) -> None:
    """Change a setting for the questions of all servers of the knowledge base, within a second.

    A setting that a question brings, its profile, and a policy that was learned come before it.
    """
    await service.live.set(service.engine.settings, body.path, body.value)
    what = f"{body.path} · {'as configured' if body.value is None else body.value}"
    await service.noted(caller, "setting.change", what)
