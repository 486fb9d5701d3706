"""What docstrings say of functions and parameters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.docstring import parameter_texts, summary

GOOGLE = """Find the way.

    Long text that is no parameter: really.

    Args:
        start (str): where it
            begins
        end (tuple(int, int), optional): where it ends: here
        *rest: others

    Returns:
        nothing: at all
"""

NUMPY = """Find the way.

    Parameters
    ----------
    start : str
        where it
        begins
    end, rest : int, optional
        both

    Returns
    -------
    way : str
        the way
"""

SPHINX = """Find the way.

    :param start: where it
        begins
    :param int end: where it ends
    :returns: the way
"""


@pytest.mark.parametrize(
    ("docstring", "texts"),
    [
        (GOOGLE, {"start": "where it begins", "end": "where it ends: here", "rest": "others"}),
        (NUMPY, {"start": "where it begins", "end": "both", "rest": "both"}),
        (SPHINX, {"start": "where it begins", "end": "where it ends"}),
        ("Nothing here.", {}),
        ("Args:", {}),
        ("", {}),
    ],
    ids=["google", "numpy", "sphinx", "none", "empty section", "empty"],
)
def test_parameters_are_described_in_three_styles(docstring: str, texts: dict[str, str]) -> None:
    assert parameter_texts(docstring) == texts


@pytest.mark.parametrize(
    ("docstring", "first"),
    [
        (GOOGLE, "Find the way."),
        ("One\n    and two.\n\nThree.", "One and two."),
        ("One.\n    Args:\n        x: y", "One."),
        ("One.\n:param x: y", "One."),
        ("\n\n  Late.\n", "Late."),
        ("", ""),
    ],
)
def test_the_description_is_the_first_paragraph_on_one_line(docstring: str, first: str) -> None:
    assert summary(docstring) == first


@given(st.text(st.sampled_from("ab:()*-, \n") | st.characters()))
def test_no_docstring_makes_it_raise(docstring: str) -> None:
    summary(docstring)
    parameter_texts(f"Args:\n{docstring}")
    parameter_texts(f"Parameters\n----\n{docstring}")
