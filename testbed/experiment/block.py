"""What the blocks of an experiment file have in common: the base class, its messages, shared kinds of values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any, NoReturn, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    TypeAdapter,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from testbed.errors import nearest
from testbed.units import Ratio, Time

CHOOSE = ("pattern", "kind")  # keys that choose which others there are


def refuse(key: str, problem: str) -> NoReturn:
    """Blame one key, relative to the model that is being validated."""
    raise PydanticCustomError("refused", "{problem}", {"key": key, "problem": problem})


class Part(BaseModel):
    """A block of the file: fixed once loaded, and unknown keys are refused with the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if data is None:
            return {}  # `pacing:` with nothing below it
        if isinstance(data, dict):
            for key in data:
                if key not in cls.model_fields:
                    chosen = next((f" with {one} '{data[one]}'" for one in CHOOSE if one in data and one != key), "")
                    refuse(str(key), f"no such key{chosen}; {nearest(str(key), list(cls.model_fields))}")
        return data


class Named(BaseModel):
    """A block for which its name alone will do: `controller: swift`."""

    @model_validator(mode="before")
    @classmethod
    def _plain_name(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "description": cls.model_fields["name"].description}, handler(core)]}


@dataclass(frozen=True)
class ChosenBy:
    """Of a union: the value of ``key`` tells which of these blocks it is.

    As pydantic's own discriminator does; but what it makes of a class to validate it, it makes when that one is chosen.
    Of all of them it is most of what reading an experiment takes.
    """

    key: str

    def __get_pydantic_core_schema__(self, source: Any, _handler: object) -> CoreSchema:
        return core_schema.tagged_union_schema(
            {
                name: core_schema.no_info_plain_validator_function(form.model_validate)
                for form in get_args(source)
                for name in get_args(form.model_fields[self.key].annotation)
            },
            self.key,
            serialization=core_schema.simple_ser_schema("any"),  # a block knows how
        )

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """With all of them."""
        while "choices" not in core:  # what is validated before
            core = core["schema"]
        forms = dict.fromkeys(one["function"]["function"].__self__ for one in core["choices"].values())
        whole: Any = Annotated[reduce(or_, forms), Field(discriminator=self.key)]
        return handler(TypeAdapter(whole).core_schema)


Count = Annotated[int, Field(strict=True, ge=1)]
Moment = Annotated[Time, Field(ge=0)]
Share = Annotated[Ratio, Field(ge=0, lt=1), PlainSerializer(float, when_used="json")]


def _host_name(value: str) -> str:
    if not (value.startswith("h") and value[1:].isdecimal() and value[1] != "0"):
        raise ValueError(f"'{value}' is not a host; hosts are named h1, h2, h3, ...")
    return value


HostName = Annotated[str, AfterValidator(_host_name)]
