"""Python statements as lines of C: assignments, conditions and loops, with the comments of the source."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence
from types import FunctionType

from testbed.sdk.export.c.calls import Calls
from testbed.sdk.export.c.library import KEYWORDS
from testbed.sdk.export.c.names import KINDS
from testbed.sdk.export.c.terms import SHIFT, Kind, Term, common, literal
from testbed.sdk.export.c.whole import Thing, Value, Whole

ALIASES = ("self", "config", "path", "ack", "stack", "hop", "array", "table")


class Statements(Calls):
    """The body of one function."""

    def __init__(self, whole: Whole, function: FunctionType, own: type | None, text: str, first: int) -> None:
        super().__init__(whole, function, own)
        self.comments = _comments(text, first)
        self.kinds: dict[str, Kind] = {}  # of local variables
        self.returns: Kind | None = None
        self.lines: list[str] = []
        self.depth = 1
        self.said = first  # comments up to this line are written
        self.places: dict[str, list[tuple[int, ...]]] = {}  # the blocks in which a local variable is met
        self.block: tuple[int, ...] = ()
        self.blocks = self.temporaries = 0
        self.declared: set[str] = set()
        self.hoisted: set[str] = set()

    def body(self, statements: Sequence[ast.stmt], bound: dict[str, Value]) -> list[str]:
        """All of it, after as many passes as it takes to know the types of its variables."""
        while True:
            known = dict(self.kinds)
            self._pass(statements, bound)
            if known == self.kinds:
                break
        self.hoisted = {name for name, blocks in self.places.items() if _meeting(blocks) != blocks[0]}
        self._pass(statements, bound)
        kinds = [(self.named(name), self.kinds[name]) for name in sorted(self.hoisted)]
        head = [f"\t{self.arithmetic.types[kind]} {name} = {self.arithmetic.zeros[kind]};" for name, kind in kinds]
        return [*head, *([""] if head else []), *self.lines]

    def _pass(self, statements: Sequence[ast.stmt], bound: dict[str, Value]) -> None:
        self.local = {**bound, **{name: self._variable(name, kind) for name, kind in self.kinds.items()}}
        self.lines, self.calls, self.declared, self.said = [], [], set(), self.function.__code__.co_firstlineno
        self.places, self.block, self.depth, self.blocks, self.temporaries = {}, (), 1, 0, 0
        self.statements(statements)

    def _variable(self, name: str, kind: Kind) -> Term:
        return Term(self.named(name), kind, origin=self.whole.origin(self._place(name)))

    def _place(self, name: str) -> str:
        return f"{self.function.__qualname__}.{name}"

    @staticmethod
    def named(name: str) -> str:
        """A local variable in C."""
        return f"{name}_" if name in KEYWORDS or name in ("flow", "ack") else name

    def statements(self, given: Sequence[ast.stmt]) -> None:
        """One after the other."""
        for one in given:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                self.said = max(self.said, one.end_lineno or one.lineno)
                continue
            self._comment(one.lineno)
            write = getattr(self, f"_{type(one).__name__.lower()}_", None)
            if write is None:
                raise self.refused(one, f"'{ast.unparse(one).splitlines()[0]}' has no form in C")
            write(one)

    def line(self, text: str, node: ast.AST | None = None) -> None:
        """One line of C; with the comment behind a statement of one line."""
        comment = self.comments[1].get(getattr(node, "end_lineno", 0), "") if node is not None else ""
        self.lines.append("\t" * self.depth + text + (f" /* {comment} */" if comment else ""))

    def _comment(self, line: int) -> None:
        for at in sorted(at for at in self.comments[0] if self.said < at < line):
            self.line(f"/* {self.comments[0][at]} */")
        self.said = max(self.said, line)

    def _inner(self, given: Sequence[ast.stmt]) -> None:
        outer, self.blocks = self.block, self.blocks + 1
        self.block, self.depth = (*outer, self.blocks), self.depth + 1
        self.statements(given)
        self.block, self.depth = outer, self.depth - 1

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.kinds:
            self.places.setdefault(node.id, []).append(self.block)
        return super()._name(node)

    def _pass_(self, node: ast.Pass) -> None:
        """Nothing."""

    def _expr_(self, node: ast.Expr) -> None:
        self.line(f"{self.value(node.value).text};", node)

    def _return_(self, node: ast.Return) -> None:
        if node.value is None:
            self.line("return;", node)
            return
        term = self.term(node.value)
        self.returns = common([self.returns, term.kind])
        self.whole.origin(self._place("return"), term.origin)
        self.line(f"return {self.arithmetic.cast(term, self.returns or term.kind).text};", node)

    def _break_(self, node: ast.Break) -> None:
        self.line("break;", node)

    def _continue_(self, node: ast.Continue) -> None:
        self.line("continue;", node)

    def _if_(self, node: ast.If, head: str = "if") -> None:
        self.line(f"{head} ({self.test(node.test).text}) {{", node.test)
        self._inner(node.body)
        following = node.orelse
        if len(following) == 1 and isinstance(following[0], ast.If) and not self._has_comment(node, following[0]):
            self._if_(following[0], "} else if")
            return
        if following:
            self.line("} else {")
            self._inner(following)
        self.line("}")

    def _has_comment(self, node: ast.If, inner: ast.If) -> bool:
        return any((node.body[-1].end_lineno or 0) < at < inner.lineno for at in self.comments[0])

    def _while_(self, node: ast.While) -> None:
        self._without_else(node)
        self.line(f"while ({self.test(node.test).text}) {{", node.test)
        self._inner(node.body)
        self.line("}")

    def _without_else(self, node: ast.While | ast.For) -> None:
        if node.orelse:
            raise self.refused(node, "else behind a loop; use a variable")

    def _for_(self, node: ast.For) -> None:
        self._without_else(node)
        over, targets = node.iter, node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        called = getattr(getattr(over, "func", None), "id", "") if isinstance(over, ast.Call) else ""
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        if set(names) & set(self.kinds):
            raise self.refused(node, f"'{names[0]}' is also another variable; give the loop's a name of its own")
        if called == "range":
            assert isinstance(over, ast.Call)
            self._range(node, names[0], [self.term(one, "int64_t") for one in over.args])
            return
        counted = called == "enumerate"
        thing = self.value(over.args[0] if counted and isinstance(over, ast.Call) else over)
        number, item = names if counted else (f"{names[0]}_number", names[0])
        if not isinstance(thing, Thing) or thing.what not in ("stack", "array", "table"):
            raise self.refused(node, f"a loop over {ast.unparse(over)} has no form in C")
        if thing.what == "stack":
            end, inside = f"{thing.text}->hop_count", f"const struct cc_hop *{item} = &{thing.text}->hops[{number}];"
            each: Value = Thing("hop", item)
        else:
            kind = KINDS["f"] if thing.what == "array" else KINDS[thing.value.dtype.kind]
            end = str(thing.value.length if thing.what == "array" else len(thing.value))
            inside, each = f"{self.arithmetic.types[kind]} {item} = {thing.text}[{number}];", Term(item, kind)
        self.line(f"for ({self.arithmetic.types['int64_t']} {number} = 0; {number} < {end}; {number}++) {{")
        self.lines.append("\t" * (self.depth + 1) + inside)
        self._loop(node, {number: Term(number, "int64_t"), item: each})

    def _range(self, node: ast.For, name: str, given: list[Term]) -> None:
        start = given[0] if len(given) > 1 else literal(0)
        end, step = given[-1] if len(given) < 3 else given[1], given[2].number if len(given) > 2 else 1
        if not step:
            raise self.refused(node, "the step of a range is a number")
        name_c, kept = self.named(name), ""
        if end.number is None and not end.text.isupper():  # it may change inside
            kept, end = f", {name}_end = {end.text}", Term(f"{name}_end", "int64_t")
        onward = f"{name_c}++" if step == 1 else f"{name_c} += {step}" if step > 0 else f"{name_c} -= {-step}"
        sign = "<" if step > 0 else ">"
        whole = self.arithmetic.types["int64_t"]
        self.line(f"for ({whole} {name_c} = {start.text}{kept}; {name_c} {sign} {end.within(SHIFT)}; {onward}) {{")
        self._loop(node, {name: Term(name_c, "int64_t")})

    def _loop(self, node: ast.For, bound: dict[str, Value]) -> None:
        before = dict(self.local)
        self.local.update(bound)
        self._inner(node.body)
        self.local = before
        self.line("}")

    def _annassign_(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._set(node, node.target, self.value(node.value))

    def _augassign_(self, node: ast.AugAssign) -> None:
        old = self.term(ast.parse(ast.unparse(node.target), mode="eval").body)
        added = self.term(node.value)
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}.get(type(node.op))
        if sign and old.kind == common([old.kind, added.kind]) and self.arithmetic.in_place(old.kind):
            self.value(node.target)  # it is set
            self.line(f"{old.text} {sign}= {self.arithmetic.cast(added, old.kind).text};", node)
            return
        self._set(node, node.target, self.combined(node, old, node.op, added))

    def _assign_(self, node: ast.Assign) -> None:
        first = node.targets[0]
        if isinstance(first, ast.Tuple):
            self._several(node, first)
            return
        if isinstance(node.value, ast.List):
            for i, one in enumerate(node.value.elts):
                self._set(node, ast.Subscript(first, ast.Constant(i), ast.Store()), self.value(one))
            return
        value = self.value(node.value)
        for target in node.targets:
            value = self._set(node, target, value)

    def _several(self, node: ast.Assign, targets: ast.Tuple) -> None:
        if not isinstance(node.value, ast.Tuple) or len(node.targets) > 1:
            raise self.refused(node, "a tuple that is taken apart; return one number")
        values = [self.value(one) for one in node.value.elts]
        places = [ast.unparse(one) for one in targets.elts]
        read = [ast.unparse(one) for one in node.value.elts]
        pairs = list(zip(targets.elts, values, strict=True))
        for i, (_, value) in enumerate(pairs):
            if isinstance(value, Term) and any(_holds(read[i], place) for place in places[:i]):  # set before it is read
                self.temporaries += 1
                name = f"new_{self.temporaries}"
                self.line(f"const {self.arithmetic.types[value.kind]} {name} = {value.text};")
                pairs[i] = pairs[i][0], Term(name, value.kind, origin=value.origin)
        for target, value in pairs:
            self._set(node, target, value)

    def _set(self, node: ast.stmt, target: ast.expr, value: Value) -> Value:
        """Assign; returns the target, to be assigned to others."""
        if isinstance(target, ast.Name):
            return self._set_local(node, target.id, value)
        place = self.value(target)
        if not isinstance(place, Term) or not isinstance(value, Term):
            raise self.refused(node, f"{ast.unparse(target)} cannot be set to that in C")
        self._found(target, value.origin)
        self.line(f"{place.text} = {self.arithmetic.cast(value, place.kind).text};", node)
        return place

    def _found(self, target: ast.expr, origin: str) -> None:
        owner = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(owner, ast.Attribute):
            self.whole.origin(owner.attr, origin)

    def _set_local(self, node: ast.stmt, name: str, value: Value) -> Value:
        if isinstance(value, Thing):
            if value.what not in ALIASES or name in self.kinds:
                raise self.refused(node, f"'{name}' cannot hold that in C")
            self.local[name] = value
            return value
        before = self.kinds.get(name)
        kind = self.kinds[name] = common([before, value.kind]) or value.kind
        self.places.setdefault(name, []).append(self.block)
        self.whole.origin(self._place(name), value.origin)
        place = self.local[name] = self._variable(name, kind)
        declared = name in self.declared or name in self.hoisted
        self.declared.add(name)
        declares = "" if declared else f"{self.arithmetic.types[kind]} "
        self.line(f"{declares}{place.text} = {self.arithmetic.cast(value, kind).text};", node)
        return place


def _holds(text: str, part: str) -> bool:
    return re.search(rf"\b{re.escape(part)}(?!\w)", text) is not None


def _meeting(blocks: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The innermost block around all of them."""
    shortest = min(blocks, key=len)
    while any(one[: len(shortest)] != shortest for one in blocks):
        shortest = shortest[:-1]
    return shortest


def _comments(text: str, first: int) -> tuple[dict[int, str], dict[int, str]]:
    """By line: those that stand alone, and those behind code. Remarks for Python's tools are left out."""
    alone: dict[int, str] = {}
    behind: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        said = token.string.lstrip("# ").partition("  # ")[0]
        if token.type == tokenize.COMMENT and not said.startswith(("noqa", "type:", "fmt:")):
            where = alone if token.line.lstrip().startswith("#") else behind
            where[first + token.start[0] - 1] = said.replace("*/", "* /")
    return alone, behind
