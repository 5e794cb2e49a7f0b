"""What Python does and C does not: small functions that an export has only if it needs them."""

from __future__ import annotations

HELPERS = {
    "min_of": "static double min_of(double a, double b)\n{\n\treturn b < a ? b : a;\n}",
    "max_of": "static double max_of(double a, double b)\n{\n\treturn b > a ? b : a;\n}",
    "min_whole": "static int64_t min_whole(int64_t a, int64_t b)\n{\n\treturn b < a ? b : a;\n}",
    "max_whole": "static int64_t max_whole(int64_t a, int64_t b)\n{\n\treturn b > a ? b : a;\n}",
    "to_whole": (
        "/* Without a fraction, and within 2^49, so that a product with a packet's size fits; 0 for nan. */\n"
        "static int64_t to_whole(double x)\n{\n\tconst double most = 562949953421312.0;\n\n"
        "\tif (isnan(x))\n\t\treturn 0;\n\treturn (int64_t)(x < -most ? -most : x > most ? most : x);\n}"
    ),
    "floor_div": (
        "/* a / b, rounded down; 0 for b = 0. */\nstatic int64_t floor_div(int64_t a, int64_t b)\n{\n"
        "\treturn b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));\n}"
    ),
    "floor_mod": (
        "/* What is left of a / b, with the sign of b; 0 for b = 0. */\n"
        "static int64_t floor_mod(int64_t a, int64_t b)\n{\n\tint64_t left = b == 0 ? 0 : a % b;\n\n"
        "\treturn left != 0 && (left < 0) != (b < 0) ? left + b : left;\n}"
    ),
    "real_mod": (
        "/* What is left of a / b, with the sign of b. */\nstatic double real_mod(double a, double b)\n{\n"
        "\tdouble left = fmod(a, b);\n\n\tif (left == 0.0)\n\t\treturn copysign(0.0, b);\n"
        "\treturn (left < 0.0) != (b < 0.0) ? left + b : left;\n}"
    ),
}
KEYWORDS = frozenset(
    (
        "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
        "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
        "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool",
        "true", "false", "NULL", "NAN", "INFINITY",
    )
)  # fmt: skip
MATH = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "log10": "log10", "tanh": "tanh", "sin": "sin",
    "cos": "cos", "tan": "tan", "atan": "atan", "atan2": "atan2", "hypot": "hypot", "fabs": "fabs", "pow": "pow",
    "fmod": "fmod", "copysign": "copysign", "expm1": "expm1", "log1p": "log1p", "sinh": "sinh", "cosh": "cosh",
}  # fmt: skip
TESTS = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite"}
WHOLE = {"floor": "floor", "ceil": "ceil", "trunc": "trunc"}


def member(name: str) -> str:
    """A field of the state in struct cc_flow."""
    return f"{name}_" if name in KEYWORDS or name in ("options", "path") else name
