"""What a candidate's source may use: enough to decide from the own flow's feedback, and nothing to look around with."""

import math

IMPORTS = {  # from MODULE import NAME
    "__future__": {"annotations"},
    "dataclasses": {"dataclass", "field"},
    "math": {name for name in vars(math) if not name.startswith("_")},
    "pydantic": {"Field", "field_validator", "model_validator"},
    "testbed.controller": {
        "MOST_HOPS", "Ack", "CompiledController", "Hop", "Path", "PerHop", "PerPath", "PerPathHop", "Signal", "path_of",
    },
    "testbed.base.fields": {"Length"},
    "testbed.learned": {"LearnedFlow", "Numbers"},
    "testbed.plugin": {"PluginConfig"},
    "testbed.units": {
        "RATE_UNITS", "RATIO_UNITS", "SIZE_UNITS", "TIME_UNITS", "Rate", "Ratio", "Size", "Time", "parse",
    },
    "typing": {"Annotated", "Any", "ClassVar", "Final", "Literal", "Self"},
}  # fmt: skip
MODULES = {  # import MODULE: what may be asked of it
    "math": IMPORTS["math"],
    "numpy": {
        "abs", "arctan", "bool_", "cbrt", "ceil", "clip", "exp", "exp2", "expm1", "float32", "float64", "floor",
        "hypot", "inf", "int32", "int64", "isfinite", "isnan", "log", "log10", "log1p", "log2", "maximum", "minimum",
        "nan", "pi", "power", "sign", "sqrt", "tanh",
    },
}  # fmt: skip
BUILTINS = {
    "False", "None", "True", "ValueError", "abs", "all", "any", "bool", "classmethod", "divmod", "enumerate", "float",
    "int", "isinstance", "len", "max", "min", "object", "pow", "property", "range", "reversed", "round", "staticmethod",
    "str", "sum", "super", "tuple", "zip",
}  # fmt: skip
TYPES = {"dict", "list"}  # in annotations only

# Attributes that lead out of the flow, whatever they are of.
FRAMES = ("gi_", "cr_", "ag_", "tb_", "f_back", "f_builtins", "f_globals", "f_locals", "f_code")
READERS = {"parse_file", "parse_raw", "format", "format_map"}  # pydantic reads files; format reads any attribute
MUTATORS = {
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "sort",
    "update",
}  # fmt: skip
