"""A second cache behind the one in the file, on a server of Redis or Valkey, which hosts share.

Values are bytes with a checksum; nothing is pickled. If the server is unreachable, a lookup is a miss, and the server
is not asked again for a while. The server limits the size (``maxmemory``), and unused values expire after some days.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ragstone.core.errors import EngineError, MissingExtra, SettingsError
from ragstone.services.engine_calls import EngineCalls
from ragstone.settings.services import RedisSettings
from ragstone.storage.cache import CacheStatus, FileCache
from ragstone.storage.cache_key import checksum

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ImportError as error:
    raise MissingExtra("redis", extra="redis") from error

SHARED = ("embeddings", "tokens", "responses", "captions", "searches", "answers")
"""Kinds that are shared; the latest questions stay in their knowledge base."""
LARGEST = 4_000_000
"""Bytes of the largest value that is sent."""
PREFIX = "ragstone:1:"
"""The start of the names of all values; the number is that of their format."""
DAY = 86_400
_SECONDS = 0.1
"""Seconds to wait for the server. Computing a value is faster than a longer wait."""
_DAYS = 30.0
"""Days after which an unused value expires."""
AT_ONCE = 500
"""Names to delete in one call."""
_COUNTS = PREFIX + "counts"

R = TypeVar("R")


class SharedCache:
    """A local cache, and behind it the one that hosts share; implements `Cache`, which describes the methods."""

    def __init__(
        self, local: FileCache, settings: RedisSettings, *, seconds: float = _SECONDS, days: float = _DAYS
    ) -> None:
        """Set the server; the first use connects to it.

        Raises:
            SettingsError: the address is not a Redis address.
        """
        self._local = local
        url = settings.url.get_secret_value()
        try:
            parts = urlsplit(url)
            self.name = f"Redis at {parts.hostname or 'localhost'}:{parts.port or 6379}"
            client: Any = redis.Redis
            self._redis = client.from_url(
                url,
                socket_timeout=seconds,
                socket_connect_timeout=seconds,
                retry=Retry(NoBackoff(), 0),  # the breaker does this better
                decode_responses=False,
            )
        except (ValueError, TypeError):  # whose text would show the password
            raise SettingsError(
                "services.redis.url is not a Redis address; write it as redis://USER:PASSWORD@HOST:6379/0, or rediss://"
            ) from None
        self._seconds = max(1, round(days * DAY))
        self._server = EngineCalls(self._ping)
        self._counted = {"hits": 0, "misses": 0}

    def keeps(self, kind: str) -> bool:
        return self._local.keeps(kind)

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return self._completed(kind, keys, self._local.get(kind, keys))

    def peek(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return self._completed(kind, keys, self._local.peek(kind, keys))

    def count(self, kind: str, *, hits: int = 0, misses: int = 0) -> None:
        self._local.count(kind, hits=hits, misses=misses)

    def _completed(self, kind: str, keys: Sequence[bytes], local: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Return the values found here, and the missing ones from the server."""
        missing = [key for key in dict.fromkeys(keys) if key not in local]
        if not missing or kind not in SHARED or not self.keeps(kind):
            return local
        names, expires = {key: _name(kind, key) for key in missing}, self._local.lifetime(kind) > 0

        def read() -> list[bytes | None]:
            pipe = self._redis.pipeline(transaction=False)
            for name in names.values():
                if expires:
                    pipe.get(name)  # use does not keep it
                else:
                    pipe.getex(name, ex=self._seconds)
            self._add_counts(pipe)
            return pipe.execute()[: len(names)]

        values = self._ask(read) or []
        new = {key: value for key, sent in zip(names, values, strict=False) if (value := _opened(kind, key, sent))}
        self._counted["hits"] += len(new)
        self._counted["misses"] += len(missing) - len(new)
        if not expires:  # a copy would outlive the original
            self._local.put(kind, new)
        return local | new

    def put(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        self._local.put(kind, values)
        small = {key: value for key, value in values.items() if len(value) <= LARGEST}
        if kind in SHARED and small and self.keeps(kind):
            milliseconds = round((self._local.lifetime(kind) or self._seconds) * 1000)

            def write() -> None:
                pipe = self._redis.pipeline(transaction=False)
                for key, value in small.items():
                    pipe.set(_name(kind, key), checksum(kind, key, value).to_bytes(4) + value, px=milliseconds)
                pipe.execute()

            self._ask(write)

    def latest(self, kind: str, count: int) -> list[bytes]:
        return self._local.latest(kind, count)

    def status(self) -> tuple[CacheStatus, ...]:
        return (*self._local.status(), self._status())

    def clear(self, kinds: Sequence[str] = ()) -> bool:
        """Delete these kinds, or all, here and on the server, where other knowledge bases lose them too."""
        is_empty = self._local.clear(kinds)
        patterns = [f"{PREFIX}{kind}:*" for kind in kinds] or [f"{PREFIX}*"]

        def forget() -> bool:
            batch: list[bytes] = []
            name: bytes
            for name in chain.from_iterable(self._redis.scan_iter(match=one, count=AT_ONCE) for one in patterns):
                batch.append(name)
                if len(batch) == AT_ONCE:
                    self._redis.unlink(*batch)
                    batch.clear()
            if batch:
                self._redis.unlink(*batch)
            return True

        return bool(self._ask(forget, insist=True)) and is_empty

    def close(self) -> None:
        def save() -> None:
            pipe = self._redis.pipeline(transaction=False)
            self._add_counts(pipe)
            pipe.execute()

        if any(self._counted.values()):
            self._ask(save)
        self._server.close()
        with suppress(redis.RedisError):
            self._redis.close()
        self._local.close()

    def _add_counts(self, pipe: Any) -> None:
        """Add the counts of this process to those of all processes."""
        for what, count in self._counted.items():
            if count:
                pipe.hincrby(_COUNTS, what, count)
                self._counted[what] = 0

    def _status(self) -> CacheStatus:
        def read() -> tuple[int, dict[str, Any], dict[bytes, bytes]]:
            pipe = self._redis.pipeline(transaction=False)
            self._add_counts(pipe)
            pipe.dbsize()
            pipe.info("memory")
            pipe.hgetall(_COUNTS)
            size, memory, counts = pipe.execute()[-3:]
            return size, memory, counts

        reply = self._ask(read, insist=True)
        if reply is None:
            problem = self._server.problem
            return CacheStatus(kind="shared", entries=0, megabytes=0.0, limit_mb=0.0, hits=0, misses=0, problem=problem)
        size, memory, counts = reply
        limit = int(memory.get("maxmemory", 0))
        return CacheStatus(
            kind="shared",
            entries=size,
            megabytes=round(int(memory.get("used_memory", 0)) / 1e6, 2),
            limit_mb=limit / 1e6,
            hits=int(counts.get(b"hits", 0)),
            misses=int(counts.get(b"misses", 0)),
            problem="" if limit else f"{self.name} has no maxmemory; set it, and maxmemory-policy allkeys-lru",
        )

    def _ask(self, what: Callable[[], R], *, insist: bool = False) -> R | None:
        """Return the server's reply; None if it cannot be reached, or could not a moment ago."""
        with suppress(EngineError), self._server.guard(insist=insist), self._translated():
            return what()
        return None

    def _ping(self) -> None:
        with self._translated():
            self._redis.ping()

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except (redis.RedisError, OSError) as error:
            raise EngineError(f"{self.name}: {' '.join(str(error).split()) or type(error).__name__}") from error


def _name(kind: str, key: bytes) -> str:
    return f"{PREFIX}{kind}:{key.hex()}"


def _opened(kind: str, key: bytes, sent: object) -> bytes | None:
    """Return the value, or None if its checksum does not match."""
    if not isinstance(sent, bytes) or len(sent) <= 4:
        return None
    value = sent[4:]
    return value if checksum(kind, key, value).to_bytes(4) == sent[:4] else None
