"""Renders the templates of our Helm chart, without Helm.

It knows only what these templates use: values, `if`, `with`, `range`, `define`, `include`, and the
functions `quote`, `default`, `not`, `toYaml` and `nindent`. Anything else is an error.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

_ACTION: Final = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)
_WORD: Final = re.compile(r'"[^"]*"|\S+')
_BLOCKS: Final = ("if ", "with ", "range ", "define ")


@dataclass
class _Block:
    """A text, an action, or a block of these with its opening action."""

    text: str = ""
    action: str = ""
    body: list["_Block"] = field(default_factory=list)


def render(chart: Path, values: dict[str, Any], name: str = "shelf") -> list[dict[str, Any]]:
    """All objects of the chart, in the order of its files."""
    about = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    top = {
        "Values": values,
        "Chart": {"Name": about["name"], "Version": about["version"]}
        | {"AppVersion": about["appVersion"]},
        "Release": {"Name": name, "Service": "Helm", "Namespace": "posts"},
    }
    files = sorted((chart / "templates").iterdir())
    parsed = {file.name: _parse(file.read_text(encoding="utf-8")) for file in files}
    parts = {
        block.action.split('"')[1]: block.body
        for blocks in parsed.values()
        for block in blocks
        if block.action.startswith("define ")
    }
    objects = []
    for file, blocks in parsed.items():
        text = "".join(_Rendering(parts).blocks(blocks, top, {}))
        if file.endswith(".yaml"):
            objects += [found for found in yaml.safe_load_all(text) if found]
    return objects


def _parse(text: str) -> list[_Block]:
    root = _Block()
    open_blocks = [root]
    end = 0
    trims_next = False
    for match in _ACTION.finditer(text):
        before = text[end : match.start()]
        before = before.lstrip() if trims_next else before
        open_blocks[-1].body.append(_Block(text=before.rstrip() if match[1] else before))
        trims_next, end = bool(match[3]), match.end()
        if match[2] == "end":
            open_blocks.pop()
        else:
            block = _Block(action=match[2])
            open_blocks[-1].body.append(block)
            if match[2].startswith(_BLOCKS):
                open_blocks.append(block)
    assert open_blocks == [root], "a block is not closed"
    rest = text[end:]
    root.body.append(_Block(text=rest.lstrip() if trims_next else rest))
    return root.body


class _Rendering:
    def __init__(self, parts: dict[str, list[_Block]]) -> None:
        self._parts = parts

    def blocks(self, blocks: list[_Block], dot: Any, names: dict[str, Any]) -> Iterator[str]:
        for block in blocks:
            kind, _, rest = block.action.partition(" ")
            if kind in ("if", "with"):
                found = self._value(rest, dot, names)
                inner = found if kind == "with" else dot
                yield from self.blocks(block.body, inner, names) if found else ()
            elif kind == "range":
                yield from self._range(rest, block, dot, names)
            elif block.action and kind != "define":
                yield _shown(self._value(block.action, dot, names))
            else:
                yield block.text

    def _range(self, head: str, block: _Block, dot: Any, names: dict[str, Any]) -> Iterator[str]:
        variables, is_named, source = head.rpartition(":=")
        found = self._value(source.strip(), dot, names)
        if not is_named:
            for each in found:
                yield from self.blocks(block.body, each, names)
            return
        key, value = (name.strip() for name in variables.split(","))
        for each in sorted(found):
            yield from self.blocks(
                block.body, found[each], {**names, key: each, value: found[each]}
            )

    def _value(self, pipeline: str, dot: Any, names: dict[str, Any]) -> Any:
        last: list[Any] = []
        for call in pipeline.split("|"):
            word, *rest = _WORD.findall(call)
            arguments = [self._atom(each, dot, names) for each in rest] + last
            last = [self._call(word, arguments, dot, names)]
        return last[0]

    def _call(self, word: str, arguments: list[Any], dot: Any, names: dict[str, Any]) -> Any:
        if word == "include":
            part, inner = arguments
            return "".join(self.blocks(self._parts[part], inner, names)).strip("\n")
        if word in _FUNCTIONS:
            return _FUNCTIONS[word](*arguments)
        assert not arguments, f"unknown function: {word}"
        return self._atom(word, dot, names)

    def _atom(self, word: str, dot: Any, names: dict[str, Any]) -> Any:
        if word.startswith('"'):
            return word.strip('"')
        if word.isdecimal():
            return int(word)
        if word.startswith("$"):
            return names[word]
        assert word.startswith("."), word
        found = dot
        for name in filter(None, word.split(".")):
            found = found[name]
        return found


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _indented(width: int, text: str) -> str:
    return "".join(f"\n{' ' * width}{line}" for line in text.split("\n"))


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "quote": lambda value: json.dumps(_shown(value)),
    "default": lambda fallback, value: value or fallback,
    "not": lambda value: not value,
    "toYaml": lambda value: yaml.safe_dump(value).strip("\n"),
    "nindent": _indented,
}
