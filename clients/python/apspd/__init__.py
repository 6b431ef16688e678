"""Client of apspd, the service that computes the distances between all vertices of a graph."""

from .client import AsyncClient as AsyncClient, AsyncResult as AsyncResult
from .client import Client as Client, Result as Result, default_client as default_client
from .errors import AccessDenied as AccessDenied, ApspdError as ApspdError, BadGraph as BadGraph
from .errors import BadRequest as BadRequest, Busy as Busy, Conflict as Conflict
from .errors import ConnectionFailed as ConnectionFailed, GraphError as GraphError
from .errors import JobCancelled as JobCancelled, JobFailed as JobFailed
from .errors import NegativeCycle as NegativeCycle, NoSuchVertex as NoSuchVertex
from .errors import NotFound as NotFound, ServiceError as ServiceError, TooLarge as TooLarge
from .client import VERSION as __version__
from ._steps import Path as Path

__all__ = [
    "AccessDenied", "ApspdError", "AsyncClient", "AsyncResult", "BadGraph", "BadRequest", "Busy", "Client",
    "Conflict", "ConnectionFailed", "GraphError", "JobCancelled", "JobFailed", "NegativeCycle", "NoSuchVertex",
    "NotFound", "Path", "Result", "ServiceError", "TooLarge", "__version__", "default_client",
]  # fmt: skip
