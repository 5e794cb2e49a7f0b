"""What the blocks of an experiment file have in common: the base class, its messages, shared kinds of values."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

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


Count = Annotated[int, Field(strict=True, ge=1)]
Moment = Annotated[Time, Field(ge=0)]
Share = Annotated[Ratio, Field(ge=0, lt=1), PlainSerializer(float, when_used="json")]


def _host_name(value: str) -> str:
    if not (value.startswith("h") and value[1:].isdecimal() and value[1] != "0"):
        raise ValueError(f"'{value}' is not a host; hosts are named h1, h2, h3, ...")
    return value


HostName = Annotated[str, AfterValidator(_host_name)]
