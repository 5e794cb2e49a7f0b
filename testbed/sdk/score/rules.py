"""Reads a candidate's source, without running it: does it decide from its own flow's feedback alone?

Only what is listed (`testbed.sdk.score.allowed`) may be used. This keeps scores comparable; it is no sandbox for code
of strangers.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

from testbed.errors import BadInput
from testbed.sdk.score import allowed

STATE = "keep state in declared fields of the flow: name: float"
FEEDBACK = "decide from the callback's arguments, self.config and self.path"
DEFINITIONS = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
Found = tuple[int, str]  # line, and what is wrong


def broken(file: Path) -> list[str]:
    """Every rule that the file breaks, by line; empty if it may be scored. Raises BadInput if it is no Python."""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}; give a file of Python, or a name from 'testbed list'") from None
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:  # the last two if it is nested too deeply
        raise BadInput(f"{file}, line {getattr(error, 'lineno', '?')}: no Python: {error}") from None
    found = sorted({*_everywhere(tree), *_shared_state(tree), *_classes(tree)})
    return [f"{file}, line {line}: {what}" for line, what in found]


def _everywhere(tree: ast.Module) -> Iterator[Found]:
    known, modules = _names(tree), _modules(tree)
    of_modules = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    classes, types = _own_classes(tree), _types(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from _import(node)
            case ast.Global() | ast.Nonlocal():
                yield node.lineno, f"'{', '.join(node.names)}' outlives a callback and is all flows'; {STATE}"
            case ast.Name(id=name) if name in modules and id(node) not in of_modules:
                yield node.lineno, f"the module '{name}' is passed around; ask it for what it has: {name}.NAME"
            case ast.Name(id=name) if name in classes | allowed.TYPES and id(node) not in types:
                yield node.lineno, f"'{name}' may only name a type here: what a class holds is all flows'; {STATE}"
            case ast.Name(id="self", ctx=ast.Store() | ast.Del()):
                yield node.lineno, f"'self' is the flow; {STATE}"
            case ast.Name(id=name) if name not in known | allowed.TYPES and name not in allowed.BUILTINS:
                yield node.lineno, f"'{name}' may not be used; {FEEDBACK}"
            case ast.Attribute():
                yield from _attribute(node, modules)
            case ast.AsyncFunctionDef() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.With():
                yield node.lineno, f"callbacks run to their end and open nothing; {FEEDBACK}"


def _import(node: ast.Import | ast.ImportFrom) -> Iterator[Found]:
    if isinstance(node, ast.Import):
        for one in node.names:
            if one.name not in allowed.MODULES:
                yield node.lineno, f"'{one.name}' may not be imported; allowed: {', '.join(sorted(allowed.MODULES))}"
        return
    names = allowed.IMPORTS.get(node.module or "") if not node.level else None
    if names is None:
        where = "." * node.level + (node.module or "")
        yield node.lineno, f"nothing may be imported from '{where}'; allowed: {', '.join(sorted(allowed.IMPORTS))}"
        return
    for one in node.names:
        if one.name == "RateController":
            yield node.lineno, "the batch form sees all flows of a host; write a CompiledController, which sees its own"
        elif one.name not in names:
            yield (
                node.lineno,
                f"'{one.name}' may not be imported from {node.module}; allowed: {', '.join(sorted(names))}",
            )


def _attribute(node: ast.Attribute, modules: dict[str, str]) -> Iterator[Found]:
    name, of = node.attr, node.value
    if isinstance(of, ast.Name) and of.id in modules and name not in allowed.MODULES.get(modules[of.id], set()):
        yield node.lineno, f"'{modules[of.id]}.{name}' may not be used; {FEEDBACK}"
    if name.startswith("__") and not (name == "__init__" and isinstance(of, ast.Call)):
        yield node.lineno, f"'.{name}' leads out of the flow; {FEEDBACK}"
    if name.startswith(allowed.FRAMES) or name in allowed.READERS:
        yield node.lineno, f"'.{name}' leads out of the flow; {FEEDBACK}"
    if name == "presets":
        yield node.lineno, f"'.presets' is all flows'; {FEEDBACK}"


def _shared_state(tree: ast.Module) -> Iterator[Found]:
    """What is of the module or the class is of all flows, so that it must not change."""
    places: list[ast.Module | ast.ClassDef] = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for place in [tree, *places]:
        for one in place.body:
            if isinstance(one, ast.Assign | ast.AnnAssign) and one.value and not _is_presets(one):
                yield from _changeable(one.value)
            elif not isinstance(one, DEFINITIONS) and not _is_docstring(one):
                yield one.lineno, "only definitions and constants may stand here; put what is done into callbacks"
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
                    yield from _changeable(default)
            case ast.Attribute(ctx=ast.Store() | ast.Del(), value=of) if not _is_self(of):
                yield node.lineno, f"'{ast.unparse(node)}' is not this flow's to set; {STATE}"
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=of) if not _is_self(getattr(of, "value", of)):
                yield node.lineno, f"'{ast.unparse(node)}' may be all flows'; {STATE}, or PerHop"
            case ast.Call(func=ast.Attribute(attr=name)) if name in allowed.MUTATORS:
                yield node.lineno, f"'.{name}()' changes what may be all flows'; {STATE}"
            case ast.keyword(arg="out" | "default_factory" as name):
                yield node.value.lineno, f"'{name}=' makes what may change and is all flows'; {STATE}"


def _changeable(value: ast.expr) -> Iterator[Found]:
    for node in ast.walk(value):
        match node:
            case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
                yield node.lineno, f"'{ast.unparse(node)}' can change and is all flows'; {STATE}, or a tuple"
            case ast.GeneratorExp() | ast.Lambda():
                yield node.lineno, f"'{ast.unparse(node)}' is all flows'; write a function"
            case ast.Call(func=ast.Name(id="Field" | "Numbers" | "float" | "int")):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math" | "np" | "numpy"))):
                pass
            case ast.Call():
                yield node.lineno, f"'{ast.unparse(node)}' may change and is all flows'; {STATE}, or a number"


def _classes(tree: ast.Module) -> Iterator[Found]:
    methods = {
        id(node)
        for place in ast.walk(tree) if isinstance(place, ast.ClassDef)
        for node in place.body if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }  # fmt: skip
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(keywords=[_, *_]):
                yield node.lineno, "classes may have no keywords; derive from CompiledController or PluginConfig"
            case ast.FunctionDef(name=name) if name.startswith("__") and name != "__init__":
                yield node.lineno, f"'{name}' changes how Python treats the flow; write __init__ and callbacks"
            case ast.FunctionDef(args=args) if id(node) not in methods and any(one.arg == "self" for one in args.args):
                yield node.lineno, "only a plain method has 'self'; name the argument otherwise"
            case ast.Assign(targets=[ast.Name(id="compiled")]) | ast.AnnAssign(target=ast.Name(id="compiled")):
                yield node.lineno, "what is not compiled may do anything; leave 'compiled' out"
            case ast.AnnAssign(annotation=annotation) if not _is_presets(node):
                yield from _text(annotation)
            case ast.Subscript(slice=inside) if not _is_literal(node):
                yield from _text(inside)


def _text(annotation: ast.expr) -> Iterator[Found]:
    """Text in an annotation is evaluated as Python, as the options of Literal are not."""
    if isinstance(annotation, ast.Subscript) and _is_literal(annotation):
        return
    if (
        isinstance(annotation, ast.Constant)
        and isinstance(annotation.value, str)
        and not annotation.value.isidentifier()
    ):
        yield annotation.lineno, "text in an annotation is run as Python; write the type itself"
    for child in ast.iter_child_nodes(annotation):
        if isinstance(child, ast.expr):
            yield from _text(child)


def _names(tree: ast.Module) -> set[str]:
    """All that the file itself defines, wherever: what it may define, other rules say."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found - set(dir(builtins))  # a local 'open' would hide Python's from this reader


def _own_classes(tree: ast.Module) -> set[str]:
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _types(tree: ast.Module) -> set[int]:
    """The nodes that say what something is: annotations, bases, and the class of the options."""
    places: list[ast.expr | None] = []
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign() | ast.arg():
                places.append(node.annotation)
            case ast.FunctionDef():
                places.append(node.returns)
            case ast.ClassDef():
                places += node.bases
            case ast.Assign(targets=[ast.Name(id="Config")]):
                places.append(node.value)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
                places.append(kind)
    return {id(node) for place in places if place for node in ast.walk(place)}


def _modules(tree: ast.Module) -> dict[str, str]:
    imported = [one for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names]
    return {one.asname or one.name: one.name for one in imported}


def _is_presets(node: ast.stmt) -> bool:
    target = node.target if isinstance(node, ast.AnnAssign) else None
    return isinstance(target, ast.Name) and target.id == "presets"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_literal(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "Literal"
