"""greenroom's runtime: pykka actors with supervision, on one event loop.

Use it alone for supervised actors; `actors` builds LLM agents on it.
"""

from runtime.actor import Actor, Terminated
from runtime.blocking import BlockingActor
from runtime.childspec import ChildSpec
from runtime.deadletters import DeadLetters
from runtime.default import default_system
from runtime.errors import (
    ActorDeadError,
    AskCycle,
    BlockingCallOnLoop,
    Cancelled,
    ChildNotFound,
    ChildStartError,
    MailboxFull,
    MisuseError,
    NameTaken,
    RestartsExceeded,
    RuntimeFault,
    SystemEnded,
    Timeout,
)
from runtime.events import (
    ActorAbandoned,
    ActorFailed,
    ActorRestarted,
    ActorStarted,
    ActorStopped,
    DeadLetter,
    EventStream,
    LoopBlocked,
)
from runtime.ref import ActorRef
from runtime.registry import Registry
from runtime.reply import Reply, as_reply
from runtime.strategy import Backoff
from runtime.supervisor import ChildCount, ChildInfo, Supervisor, SupervisorRef
from runtime.system import ActorSystem
from runtime.threads import WorkerThreads
from runtime.timers import Timer

__all__ = [
    "Actor",
    "ActorAbandoned",
    "ActorDeadError",
    "ActorFailed",
    "ActorRef",
    "ActorRestarted",
    "ActorStarted",
    "ActorStopped",
    "ActorSystem",
    "AskCycle",
    "Backoff",
    "BlockingActor",
    "BlockingCallOnLoop",
    "Cancelled",
    "ChildCount",
    "ChildInfo",
    "ChildNotFound",
    "ChildSpec",
    "ChildStartError",
    "DeadLetter",
    "DeadLetters",
    "EventStream",
    "LoopBlocked",
    "MailboxFull",
    "MisuseError",
    "NameTaken",
    "Registry",
    "Reply",
    "RestartsExceeded",
    "RuntimeFault",
    "Supervisor",
    "SupervisorRef",
    "SystemEnded",
    "Terminated",
    "Timeout",
    "Timer",
    "WorkerThreads",
    "as_reply",
    "default_system",
]
