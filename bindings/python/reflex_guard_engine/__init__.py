"""Reflex's rule engine: YAML rules over the calls of an agent.

>>> from reflex_guard_engine import CORE_RULES, RuleEngine
>>> engine = RuleEngine({"allowed_roots": "/home/user/project"})
>>> engine.add_rules(CORE_RULES)
>>> engine.is_allowed({"event": "bash_command", "command": "rm -rf /"})
False
"""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _native

__all__ = ["CORE_RULES", "ReflexError", "RuleEngine", "load_rule_directory", "load_rule_file", "judge", "parse"]

Rule = Mapping[str, Any]
Event = Mapping[str, Any]
Variable = Union[str, Sequence[str]]


class ReflexError(ValueError):
    """A rule or an argument is invalid.

    ``code`` is ``ERR_INVALID_RULE`` or ``ERR_INVALID_ARGUMENT``; ``file`` and ``line`` (from 1) are the place in an
    invalid file, else ``None``.
    """

    def __init__(self, code: str, message: str, file: Optional[str] = None, line: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code
        self.file = file
        self.line = line


def _call(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except _native.NativeError as error:
        raise ReflexError(*error.args) from None


class RuleEngine:
    """Evaluates rules on events. Threads may share an engine; the GIL is released while it works."""

    def __init__(self, variables: Optional[Mapping[str, Variable]] = None) -> None:
        self._engine = _call(_native.Engine, json.dumps(dict(variables or {})))

    def add_rule(self, rule: Rule) -> None:
        """Adds a rule. If it is invalid, ``ReflexError`` is raised and the engine is unchanged."""
        self.add_rules([rule])

    def add_rules(self, rules: Iterable[Rule]) -> None:
        """Adds all rules, or none if one is invalid."""
        _call(self._engine.add_rules, json.dumps(list(rules)))

    def set_variable(self, key: str, value: Variable) -> None:
        """Sets a variable. If a rule is invalid with it, ``ReflexError`` is raised and the variable is unchanged."""
        _call(self._engine.set_variable, key, json.dumps(value))

    def evaluate(self, event: Event) -> list[dict[str, Any]]:
        """Returns the rules that fire, in the order of addition."""
        return json.loads(_call(self._engine.evaluate, json.dumps(event)))

    def get_blocks(self, event: Event) -> list[dict[str, Any]]:
        """Returns the rules that fire with the action ``block``."""
        return json.loads(_call(self._engine.get_blocks, json.dumps(event)))

    def is_allowed(self, event: Event) -> bool:
        """Returns whether no rule blocks."""
        return _call(self._engine.is_allowed, json.dumps(event))


def load_rule_file(path: Union[str, os.PathLike[str]]) -> dict[str, Any]:
    """Loads the one rule of a file."""
    return json.loads(_call(_native.load_rule_file, os.fspath(path)))


def load_rule_directory(
    path: Union[str, os.PathLike[str]],
    *,
    disabled_rules: Sequence[str] = (),
    rule_dirs: Sequence[Union[str, os.PathLike[str]]] = (),
) -> list[dict[str, Any]]:
    """Loads the rules of all ``.yaml`` and ``.yml`` files below a folder.

    Rules in ``disabled_rules`` are loaded with ``enabled: False``; ``core`` rules stay enabled.
    """
    config = {"disabled_rules": list(disabled_rules), "rule_dirs": [os.fspath(one) for one in rule_dirs]}
    return json.loads(_call(_native.load_rules, os.fspath(path), json.dumps(config)))


def judge(event: Event, *, mode: str = "balanced", home: str = "/home/user") -> dict[str, Any]:
    """Returns the verdict of ``reflex eval`` on a universal event; its ``decision`` is ``allow``, ``warn``,
    ``require_approval`` or ``block``.

    No file is read: facts such as ``"facts": {"git": {"dirty": ["a.txt"]}}`` are fields of the event. An event that cannot be read is
    blocked, with ``error`` in the verdict. ``home`` is the home folder of an event that names none.
    """
    return json.loads(_call(_native.judge, json.dumps(event), mode, home))


def parse(command: str, cwd: str = "/") -> dict[str, Any]:
    """Returns the commands that a shell text would run, their effects, and the spans that are unknown.

    Nothing is run and no file is read.
    """
    return json.loads(_native.parse(command, cwd))


CORE_RULES: list[dict[str, Any]] = json.loads(_native.core_rules())
