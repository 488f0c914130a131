"""Table schemas as strategies take them: a key, indexes, and back to a CreateTable request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from emulator.model import IndexSchema, KeySchema, Projection, wire

NOT_A_SCHEMA: Final = (
    "a schema is a TableSchema, a CreateTable request or a table's description, not {given!r}"
)
NO_INDEX: Final = "table {table!r} has no index {index!r}"


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table's name, its key, and its indexes.

    >>> from emulator.testing.table_notation import create_request
    >>> schema = TableSchema.of(create_request("orders", "customer", indexes={"all": "kind"}))
    >>> schema.key.names, schema.indexes[0].key.names
    (('customer',), ('kind',))
    """

    name: str
    key: KeySchema
    indexes: tuple[IndexSchema, ...] = ()

    @classmethod
    def of(cls, declared: Schema) -> TableSchema:
        """Return a schema from itself, a CreateTable request or a table's description.

        Raises:
            TypeError: it is none of them.
        """
        if isinstance(declared, TableSchema):
            return declared
        if isinstance(declared, Mapping):
            declared = declared.get("Table", declared)
        if not isinstance(declared, Mapping) or "KeySchema" not in declared:
            raise TypeError(NOT_A_SCHEMA.format(given=declared))
        types = wire.load_types(declared["AttributeDefinitions"])
        key = wire.load_key(declared["KeySchema"], types)
        indexes = tuple(_indexes(declared, key, types))
        return cls(declared["TableName"], key, indexes)

    def create_request(self, **members: Any) -> dict[str, Any]:
        """Return the request that creates the table; on demand, unless ``members`` differ."""
        request: dict[str, Any] = {
            "TableName": self.name,
            "KeySchema": wire.dump_key(self.key),
            "AttributeDefinitions": wire.dump_types(self.key_types),
            "BillingMode": "PAY_PER_REQUEST",
        }
        for member, is_global in (
            ("GlobalSecondaryIndexes", True),
            ("LocalSecondaryIndexes", False),
        ):
            wired = [_wire_index(index) for index in self.indexes if index.is_global == is_global]
            if wired:
                request[member] = wired
        return request | members

    @property
    def key_types(self) -> dict[str, str]:
        """The type of every attribute that is part of some key."""
        keys = (self.key, *(index.key for index in self.indexes))
        return {attribute.name: attribute.type for key in keys for attribute in key.attributes}

    def index(self, name: str) -> IndexSchema:
        """Return an index by its name.

        Raises:
            ValueError: there is none.
        """
        for index in self.indexes:
            if index.name == name:
                return index
        raise ValueError(NO_INDEX.format(table=self.name, index=name))

    def key_of(self, index: str | None) -> KeySchema:
        """Return the key that a Query on the table, or on an index, is about."""
        return self.key if index is None else self.index(index).key


Schema: TypeAlias = TableSchema | Mapping[str, Any]


def _indexes(
    declared: Mapping[str, Any], key: KeySchema, types: Mapping[str, Any]
) -> Iterator[IndexSchema]:
    for member, is_global in (("LocalSecondaryIndexes", False), ("GlobalSecondaryIndexes", True)):
        for index in declared.get(member) or ():
            projection = index["Projection"]
            yield IndexSchema(
                index["IndexName"],
                wire.load_key(index["KeySchema"], types),
                Projection(
                    projection["ProjectionType"], tuple(projection.get("NonKeyAttributes") or ())
                ),
                is_global=is_global,
                table_key=key,
            )


def _wire_index(index: IndexSchema) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection.kind}
    if index.projection.kind == "INCLUDE":
        projection["NonKeyAttributes"] = list(index.projection.names)
    return {
        "IndexName": index.name,
        "KeySchema": wire.dump_key(index.key),
        "Projection": projection,
    }
