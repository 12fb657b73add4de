"""Foreign web pages, security headers, and large, slow or malformed requests."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from live import Live, Serving, make_key

PAGE = "http://chat.example"


@pytest.mark.parametrize("name", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "[::2]", ""])
def test_refuses_foreign_host_names(house: Live, name: str) -> None:
    response = house.http.get("/me", headers={"host": f"{name}:8000"})
    assert response.status_code == 403
    assert "serve.names" in response.json()["error"]["message"]


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:99"])
def test_accepts_loopback_names(house: Live, name: str) -> None:
    assert house.http.get("/me", headers={"host": name}).status_code == 200


@pytest.mark.parametrize("origin", [PAGE, "null", "https://localhost.example", "file://", "http://[", "http://[x]"])
def test_refuses_pages_of_other_origins(house: Live, origin: str) -> None:
    for method, path in (("POST", "/query"), ("GET", "/documents"), ("DELETE", "/documents/x"), ("OPTIONS", "/query")):
        response = house.http.request(method, path, headers={"origin": origin, "content-type": "text/plain"})
        assert response.status_code == 403
        assert "access-control-allow-origin" not in response.headers


def test_refuses_cross_site_writes_without_origin(house: Live) -> None:
    assert house.http.post("/sync", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert house.http.get("/me", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_accepts_its_own_page(house: Live) -> None:
    assert house.ask("Where do visitors park?").status_code == 200
    own = {"origin": house.url}
    assert house.http.post("/query", json={"question": "Where?"}, headers=own).status_code == 200


def test_accepts_only_listed_origins(serving: Serving) -> None:
    live = serving(f"origins=[{PAGE}]")
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    granted = live.http.options("/query", headers={"origin": PAGE} | asks)
    assert granted.status_code == 200
    assert granted.headers["access-control-allow-origin"] == PAGE
    assert "authorization" in granted.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in granted.headers
    answer = live.http.post("/query", json={"question": "Where do visitors park?"}, headers={"origin": PAGE})
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert live.http.options("/query", headers={"origin": f"{PAGE}.evil"} | asks).status_code == 403
    make_key(live.engine.folder, "ada")
    assert live.http.options("/query", headers={"origin": PAGE} | asks).status_code == 200  # it shows no key
    assert live.http.get("/me", headers={"origin": PAGE}).status_code == 401


def test_responses_carry_security_headers(house: Live) -> None:
    for path in ("/health", "/nothing", "/me"):
        headers = house.http.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "strict-transport-security" not in headers
        proxied = house.http.get(path, headers={"x-forwarded-proto": "https"}).headers
        assert "strict-transport-security" in proxied


def test_requests_have_ids(house: Live) -> None:
    given = house.http.get("/health", headers={"x-request-id": "trace-1"}).headers["x-request-id"]
    assert given == "trace-1"
    made = house.http.get("/health", headers={"x-request-id": 'a"b\t{}'}).headers["x-request-id"]
    assert len(made) == 32


def test_refuses_large_requests(house: Live) -> None:
    big = b'{"query": "' + b"x" * 300_000 + b'"}'
    told = house.http.post("/search", content=big, headers={"content-type": "application/json"})
    assert (told.status_code, told.json()["error"]["code"]) == (413, "too_large")

    def pieces():
        for start in range(0, len(big), 10_000):
            yield big[start : start + 10_000]

    told = house.http.post("/search", content=pieces(), headers={"content-type": "application/json"})
    assert (told.status_code, told.json()["error"]["code"]) == (413, "too_large")


def test_refuses_slow_bodies(serving: Serving) -> None:
    live = serving("request_seconds=0.3")
    host, port = live.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as slow:
        slow.sendall(b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        slow.sendall(b'Content-Length: 50\r\n\r\n{"question":')
        assert b" 408 " in slow.recv(4096)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 900\r\n\r\n", 408),
        (b"POST /query HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 900\r\n\r\n", 403),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n", 200),
    ],
)  # fmt: skip
def test_closes_connections_with_endless_bodies(serving: Serving, head: bytes, status: int) -> None:
    live = serving("request_seconds=0.5")
    host, port = live.url.removeprefix("http://").split(":")
    answer, begun = b"", time.monotonic()
    with socket.create_connection((host, int(port)), timeout=0.1) as slow, suppress(ConnectionError):
        slow.sendall(head)
        while time.monotonic() < begun + 5:
            slow.sendall(b" ")  # never silent for long
            with suppress(TimeoutError):
                if not (more := slow.recv(4096)):
                    break
                answer += more
    assert f" {status} ".encode() in answer
    assert 0.4 < time.monotonic() - begun < 4


def test_a_slow_body_of_the_least_rate_is_read(serving: Serving) -> None:
    live = serving("request_seconds=0.4")
    body = json.dumps({"question": "Where do visitors park?"}).encode() + b" " * 8_000

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 1_000):
            yield body[start : start + 1_000]
            time.sleep(0.08)

    sent = live.http.post("/query", content=pieces(), headers={"content-type": "application/json"})
    assert sent.status_code == 200, sent.text


def test_closes_connections_with_endless_heads(serving: Serving) -> None:
    live = serving("request_seconds=0.4")
    host, port = live.url.removeprefix("http://").split(":")
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def held(*first: bytes) -> float:
        """Return how long a connection stays open that sends this, and then an endless head."""
        with socket.create_connection((host, int(port)), timeout=5) as slow:
            for one in first:
                slow.sendall(one)
                answer = b""
                while not answer.endswith(b"}"):
                    answer += slow.recv(4096)
            slow.settimeout(0.1)
            begun = time.monotonic()
            with suppress(ConnectionError):
                slow.sendall(b"GET /health HTTP/1.1\r\n")
                while time.monotonic() < begun + 5:
                    slow.sendall(b"X-More: 1\r\n")
                    with suppress(TimeoutError):
                        if slow.recv(1) == b"":
                            break
        return time.monotonic() - begun

    assert 0.3 < held() < 4
    assert 0.3 < held(whole, whole) < 4
    with socket.create_connection((host, int(port)), timeout=5) as silent:
        assert silent.recv(1) == b""


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b'{"question": NaN}', b'{"question": "\\ud800"}'])
def test_refuses_invalid_json(house: Live, body: bytes) -> None:
    told = house.http.post("/query", content=body, headers={"content-type": "application/json"})
    assert told.status_code in (400, 422), told.text
    assert told.json()["error"]["code"] in ("invalid", "usage")


def test_refuses_half_of_a_surrogate_pair(serving: Serving) -> None:
    live = serving("sources=[/gone]")
    for path, body in (("/sync", b'{"sources": ["\\ud800"]}'), ("/query", b'{"question": "\\ud800"}')):
        sent = live.http.post(path, content=body, headers={"content-type": "application/json"})
        assert sent.status_code in (404, 422), sent.text


@pytest.mark.parametrize("kind", [{}, {"content-type": "application/x-www-form-urlencoded"}])
def test_refuses_json_without_its_content_type(house: Live, kind: dict[str, str]) -> None:
    for path in ("/query", "/search", "/feedback", "/v1/chat/completions"):
        told = house.http.post(path, content=b'{"question": "Where?"}', headers=kind)
        assert told.status_code == 415, told.text
        assert "content-type: application/json" in told.json()["error"]["message"]
