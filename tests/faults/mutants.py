"""Small mechanical changes of the product: the mutants that there are, and an order to draw them in."""

import hashlib
import re
import sys
from typing import NamedTuple

from harmless import HARMLESS
from planting import ROOT, text_of

FOLDERS = ("common", "proto", "server", "server/replication", "client", "client/link", "client/world")

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>\d[\w.]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

# Statements of these are left alone: they check, count marks or work at compile time.
CHECKS = {"HC_ASSERT", "HC_CHECK", "HC_MARK", "_Static_assert"}
OTHER_WAY = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="),
             "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",)}
TICK = re.compile(r"tick|head|first|last|oldest|newest|earliest|from|to|base|before|end|as_of|"
                  r"inputs_through|final|wanted|next|late_limit|t$")
ASSIGN = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"}
KEYWORDS = {"return", "if", "for", "while", "switch", "case", "break", "continue", "goto", "else",
            "do", "default", "static", "const", "struct", "enum", "union", "sizeof", "typedef"}


class Mutant(NamedTuple):
    kind: str
    file: str
    at: int  # in the file's text
    find: str
    replace: str

    def apply(self, text: str) -> str:
        fill = "\n" * self.find.count("\n")  # all other lines keep their numbers
        return text[: self.at] + self.replace + fill + text[self.at + len(self.find):]

    def place(self) -> str:
        text = text_of(self.file)
        return f"{self.file}:{text.count(chr(10), 0, self.at) + 1}"

    def name(self) -> str:
        return f"{self.file}: {self.edit()}"

    def edit(self) -> str:
        if self.kind in ("assignment", "call"):
            return f"{' '.join(self.find.split())}  ->  {self.replace}"
        text = text_of(self.file)
        begin = text.rfind("\n", 0, self.at) + 1
        line = text[begin: text.find("\n", self.at)]
        return f"{self.find}  ->  {self.replace}  at {self.at - begin + 1} in  {line.strip()}"


class Token(NamedTuple):
    kind: str
    text: str
    at: int


def tokens_of(text: str) -> list[Token]:
    found = (Token(m.lastgroup or "", m[0], m.start()) for m in TOKEN.finditer(text))
    return [token for token in found if token.kind != "skip"]


def statements_of(tokens: list[Token]):
    """Runs of tokens between the braces and semicolons of function bodies; what is in parentheses
    stays together. A prefix such as `if (...)` or `else` is a run of its own."""
    depth = braces = start = 0
    for i, token in enumerate(tokens):
        depth += (token.text in "([") - (token.text in ")]") if token.kind == "sign" else 0
        if depth > 0 or token.kind != "sign" and token.text != "else":
            continue
        if token.text in "{};" or token.text == "else":
            if braces > 0 and i > start:
                yield tokens[start: i + 1]
            braces += (token.text == "{") - (token.text == "}")
            start = i + 1
        elif token.text == ")" and tokens[start].text in ("if", "for", "while", "switch"):
            if braces > 0:
                yield tokens[start: i + 1]
            start = i + 1


def whole(kind: str, file: str, text: str, run: list[Token]) -> Mutant:
    return Mutant(kind, file, run[0].at, text[run[0].at: run[-1].at + 1], ";")


def dropped(file: str, text: str, run: list[Token]):
    """A statement that is a call or an assignment, left out."""
    names = [token.text for token in run]
    if names[-1] != ";" or run[0].kind != "name" and names[0] not in ("*", "++", "--"):
        return
    if names[0] in KEYWORDS or len(run) > 1 and run[0].kind == run[1].kind == "name":
        return
    depth, assigns = 0, False
    for name in names:
        depth += (name in "([") - (name in ")]")
        assigns |= depth == 0 and name in ASSIGN
    if assigns:
        yield whole("assignment", file, text, run)
    elif len(run) > 2 and names[1] == "(" and names[-2] == ")":
        yield whole("call", file, text, run)


def within(file: str, run: list[Token]):
    """One token of a statement, changed."""
    for i, token in enumerate(run):
        before = run[i - 1].text if i > 0 else ""
        after = run[i + 1].text if i + 1 < len(run) else ""
        if token.text in OTHER_WAY:
            kind = "logic" if token.text in ("&&", "||") else "comparison"
            for other in OTHER_WAY[token.text]:
                yield Mutant(kind, file, token.at, token.text, other)
        elif token.kind == "number" and re.fullmatch(r"\d+u?", token.text):
            value = int(token.text.rstrip("u"))
            for other in {value + 1, max(value - 1, 0)} - {value}:
                yield Mutant("constant", file, token.at, token.text, str(other))
        elif (token.kind == "name" and TICK.search(token.text) and i > 0
              and run[i - 1].kind == "sign" and before not in (".", "->", "&", "++", "--", "*")
              and after not in ("(", "[", ".", "->", "++", "--", *ASSIGN)):
            for other in ("+", "-"):
                yield Mutant("tick", file, token.at, token.text, f"({token.text} {other} 1)")


def candidates() -> list[Mutant]:
    """All mutants that there are."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.c")):
            file = str(path.relative_to(ROOT))
            text = text_of(file)
            for run in statements_of(tokens_of(text)):
                if not CHECKS & {token.text for token in run}:
                    found += (*dropped(file, text, run), *within(file, run))
    return found


def check_harmless() -> None:
    """Ends the program if a harmless mutant has no place in the sources."""
    there = {mutant.name() for mutant in candidates()}
    for name in HARMLESS:
        if name not in there:
            sys.exit(f"tests/faults/harmless.py: there is no mutant '{name}'")


def drawn(seed: int):
    """All mutants that can do harm, as many of each kind as long as there are any. The order within a kind follows
    from the mutants' texts, so an edit of the sources leaves most of those drawn as they were."""
    kinds: dict[str, list[tuple[bytes, Mutant]]] = {}
    for mutant in candidates():
        if mutant.name() in HARMLESS:
            continue
        rank = hashlib.sha256(f"{seed} {mutant.file} {mutant.edit()}".encode()).digest()
        kinds.setdefault(mutant.kind, []).append((rank, mutant))
    for kind in kinds.values():
        kind.sort(reverse=True)
    while any(kinds.values()):
        for kind in sorted(kinds):
            if kinds[kind]:
                yield kinds[kind].pop()[1]


def placed(place: str) -> list[Mutant]:
    """All mutants of a file or file:line."""
    file, _, line = place.partition(":")
    there = [mutant for mutant in candidates() if mutant.file == file]
    return [mutant for mutant in there if not line or mutant.place() == place]
