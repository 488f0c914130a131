"""What hypothesis is told when it is imported: how values of our types are drawn.

It loads the model's types, and neither the engine nor the strategies until one is drawn from.
"""

from __future__ import annotations

from typing import Any


def register() -> None:
    """Let ``st.from_type`` draw schemas that the service accepts."""
    from hypothesis import strategies as st

    from emulator.model import IndexSchema, KeySchema
    from emulator.strategies.table_schema import TableSchema

    st.register_type_strategy(TableSchema, lambda _type: _table_schemas())
    st.register_type_strategy(KeySchema, lambda _type: _table_schemas().map(_key))
    st.register_type_strategy(IndexSchema, lambda _type: _table_schemas(1).map(_index))


def _table_schemas(least_indexes: int = 0) -> Any:
    from emulator.strategies.schemas import table_schemas

    schemas = table_schemas()
    return schemas.filter(lambda schema: len(schema.indexes) >= least_indexes)


def _key(schema: Any) -> Any:
    return schema.key


def _index(schema: Any) -> Any:
    return schema.indexes[0]
