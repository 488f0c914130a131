"""Wordings: one sentence, in the words of each request layer that says it otherwise.

During 2026 the service rolls out a new request layer, region by region, and the same fault comes
in several wordings (PRO-1). A rule states its sentence once; the layer that answers an operation
(``Layer`` in the catalogue) picks the column. A new wording is a new column.
"""

from __future__ import annotations


class Wording:
    """A sentence, or the template of one, by column.

    Args:
        current: The sentence of every layer without a column of its own.
        **columns: Those of others; a column is named after a layer's wording, or after a message
            profile where that profile alone words this sentence otherwise.

    >>> wording = Wording("{key} is wrong", older="Invalid value: {key}").format(key=":v")
    >>> wording.text("current"), wording.text("older"), wording.text("newest")
    (':v is wrong', 'Invalid value: :v', ':v is wrong')
    """

    __slots__ = ("columns",)

    def __init__(self, current: str, **columns: str) -> None:
        self.columns = {"current": current, **columns}

    def text(self, *columns: str) -> str:
        """Return the words of the first of these columns that there is, or the current ones."""
        return next(
            (self.columns[column] for column in columns if column in self.columns),
            self.columns["current"],
        )

    def format(self, **values: object) -> Wording:
        """Return the sentence with values filled in; a value may be a wording itself."""
        inner = [value for value in values.values() if isinstance(value, Wording)]
        columns = dict.fromkeys(column for wording in (self, *inner) for column in wording.columns)
        return Wording(
            **{
                column: self.text(column).format(
                    **{
                        name: value.text(column) if isinstance(value, Wording) else value
                        for name, value in values.items()
                    }
                )
                for column in columns
            }
        )
