"""greenroom: many LLM agents in one process, each an actor with its own mailbox."""

from actors.agent.agent import Agent, AgentSetup
from actors.agent.ref import AgentRef
from actors.agent.result import TurnResult
from actors.config import AgentConfig
from actors.errors import (
    AgentBusy,
    AgentError,
    ConfigError,
    DatabaseError,
    EmbeddingMismatch,
    ExtractionError,
    ImageError,
    InvalidArgument,
    JournalError,
    LocalModelError,
    McpConnectionLost,
    McpError,
    McpProtocolError,
    McpRefused,
    MCPRegistryError,
    McpTimeout,
    McpToolGone,
    ModelError,
    ModelHTTPError,
    ModelReplyError,
    ModelTimeout,
    ModelUnavailable,
    RunNotFound,
    SessionError,
    StoreInUse,
    ToolCallError,
    ToolExists,
    ToolSchemaError,
    VectorFileError,
    VectorNotFound,
)
from actors.image import Image
from actors.mcp.config import HttpServer, McpServerConfig, McpTimeouts, StdioServer
from actors.mcp.registry import MCPRegistry
from actors.model.message import Message, ToolCall, Usage
from actors.output.handler import OutputHandler
from actors.output.json_lines import JsonLinesHandler
from actors.output.silent import SilentHandler
from actors.output.terminal import TerminalHandler
from actors.tools.approval import Approval, Approver, CallbackApprover
from actors.tools.decorator import tool
from actors.tools.policy import ToolPolicy
from actors.tools.terminal_approver import TerminalApprover
from actors.tools.tool import Tool

__all__ = [
    "Agent",
    "AgentBusy",
    "AgentConfig",
    "AgentError",
    "AgentRef",
    "AgentSetup",
    "Approval",
    "Approver",
    "CallbackApprover",
    "ConfigError",
    "DatabaseError",
    "EmbeddingMismatch",
    "ExtractionError",
    "HttpServer",
    "Image",
    "ImageError",
    "InvalidArgument",
    "JournalError",
    "JsonLinesHandler",
    "LocalModelError",
    "MCPRegistry",
    "MCPRegistryError",
    "McpConnectionLost",
    "McpError",
    "McpProtocolError",
    "McpRefused",
    "McpServerConfig",
    "McpTimeout",
    "McpTimeouts",
    "McpToolGone",
    "Message",
    "ModelError",
    "ModelHTTPError",
    "ModelReplyError",
    "ModelTimeout",
    "ModelUnavailable",
    "OutputHandler",
    "RunNotFound",
    "SessionError",
    "SilentHandler",
    "StdioServer",
    "StoreInUse",
    "TerminalApprover",
    "TerminalHandler",
    "Tool",
    "ToolCall",
    "ToolCallError",
    "ToolExists",
    "ToolPolicy",
    "ToolSchemaError",
    "TurnResult",
    "Usage",
    "VectorFileError",
    "VectorNotFound",
    "tool",
]
