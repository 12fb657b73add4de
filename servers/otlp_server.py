"""An OTLP receiver on loopback: takes traces and metrics over HTTP in protobuf, as OpenTelemetry specifies them."""

from __future__ import annotations

import gzip
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from servers.loopback import Loopback


class OtlpServer(Loopback):
    """A receiver that keeps what it gets.

    Attributes:
        spans: of all requests, as protobuf messages.
        metrics: the names of all metrics.
        headers: of the last request, by their names in lower case.
        service: the attributes of the resource of the last trace.
        got_spans: set when the first spans have arrived.
    """

    def __init__(self) -> None:
        super().__init__()
        self.spans, self.metrics = list[Any](), set[str]()
        self.headers, self.service = dict[str, str](), dict[str, str]()
        self.got_spans = Event()

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        body = gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw
        if handler.path.endswith("/v1/traces"):
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.service = {one.key: one.value.string_value for one in resource.resource.attributes}
                self.spans += [span for scope in resource.scope_spans for span in scope.spans]
            self.got_spans.set()
            reply = ExportTraceServiceResponse().SerializeToString()
        else:
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics |= {metric.name for scope in resource.scope_metrics for metric in scope.metrics}
            reply = ExportMetricsServiceResponse().SerializeToString()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/x-protobuf")
        handler.send_header("Content-Length", str(len(reply)))
        handler.end_headers()
        handler.wfile.write(reply)


def attributes_of(span: Any) -> dict[str, Any]:
    """Return the attributes of a span by their names."""
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes}
