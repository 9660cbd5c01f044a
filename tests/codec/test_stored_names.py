"""Whatever is renamed in the code keeps its name on disk, and a name on disk that changed is still read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import pytest

from quotatree.codec import DecodeError, decode, encode, tag_of
from quotatree.codec.stored_names import GONE_KEYS, KEYS, NAMED_BY_MEMBER, TAGS, TEXTS


class Fuel(Enum):
    PETROL = "petrol"
    POWER = "a battery"


class Grade(Enum):
    LOW = "hardly any at all"
    FULL = "as much as goes in"


@dataclass(frozen=True, slots=True)
class Car:
    fuel: Fuel = Fuel.PETROL
    wheels: int = 0


@dataclass(frozen=True, slots=True)
class Boat:
    length: int


@dataclass(frozen=True, slots=True)
class Untagged:
    pass


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoders and decoders are made once for each type; here with the names that the test entered."""
    for made in ("quotatree.codec.encoding._made", "quotatree.codec.decoding._made"):
        monkeypatch.setattr(made, {})


def test_a_renamed_class_keeps_its_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TAGS, Car, ("Automobile",))
    monkeypatch.setitem(TAGS, Boat, ("Boat",))
    assert encode(Car(wheels=4), Car | Boat) == {"type": "Automobile", "fuel": "petrol", "wheels": 4}
    assert decode(Car | Boat, {"type": "Automobile"}) == Car()  # type: ignore[arg-type]
    assert tag_of(Car) == "Automobile"


def test_an_old_tag_is_read_and_the_new_one_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TAGS, Car, ("Car", "Automobile"))
    monkeypatch.setitem(TAGS, Boat, ("Boat",))
    for tag in ("Car", "Automobile"):
        assert decode(Car | Boat, {"type": tag}) == Car()  # type: ignore[arg-type]
    assert encode(Car(), Car | Boat)["type"] == "Car"


def test_a_member_of_a_union_without_a_tag_is_a_mistake_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TAGS, Car, ("Car",))
    with pytest.raises(TypeError, match="Untagged is stored in a union: give it a tag in codec"):
        encode(Car(), Car | Untagged)
    with pytest.raises(TypeError, match="Untagged is stored in a union"):
        decode(Car | Untagged, {"type": "Car"})  # type: ignore[arg-type]


def test_two_members_of_a_union_with_one_tag_are_a_mistake_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TAGS, Car, ("Car", "Vehicle"))
    monkeypatch.setitem(TAGS, Boat, ("Boat", "Vehicle"))
    with pytest.raises(TypeError, match="two members have the tag 'Vehicle'"):
        encode(Car(), Car | Boat)


def test_a_renamed_field_keeps_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KEYS, Car, {"wheels": ("tyres",)})
    assert encode(Car(wheels=4)) == {"fuel": "petrol", "tyres": 4}
    assert decode(Car, {"tyres": 4}) == Car(wheels=4)
    with pytest.raises(DecodeError, match="wheels: is not known here; known are fuel, tyres"):
        decode(Car, {"wheels": 4})


def test_an_old_key_is_read_and_the_new_one_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KEYS, Car, {"wheels": ("wheels", "tyres", "rims")})
    for key in ("wheels", "tyres", "rims"):
        assert decode(Car, {key: 4}) == Car(wheels=4)
    assert encode(Car(wheels=4))["wheels"] == 4
    with pytest.raises(DecodeError, match="tyres: stands there twice, also as wheels"):
        decode(Car, {"wheels": 4, "tyres": 3})


def test_a_key_that_is_gone_is_read_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GONE_KEYS, Car, frozenset({"ashtray", "choke"}))
    assert decode(Car, {"choke": True, "wheels": 4, "ashtray": "full"}) == Car(wheels=4)


def test_enums_are_stored_by_value_or_where_that_is_said_by_member(monkeypatch: pytest.MonkeyPatch) -> None:
    assert encode(Fuel.POWER) == "a battery"
    monkeypatch.setattr("quotatree.codec.kinds.NAMED_BY_MEMBER", NAMED_BY_MEMBER | {Grade})
    assert encode(Grade.LOW) == "LOW"


def test_a_renamed_member_keeps_its_text_and_old_texts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    enum: type[Enum] = Fuel
    monkeypatch.setitem(TEXTS, enum, {"PETROL": ("petrol", "gasoline"), "POWER": ("electric",)})
    assert [encode(member) for member in Fuel] == ["petrol", "electric"]
    assert decode(Fuel, "gasoline") is Fuel.PETROL
    with pytest.raises(DecodeError, match="must be one of petrol, gasoline, electric, is 'a battery'"):
        decode(Fuel, "a battery")
