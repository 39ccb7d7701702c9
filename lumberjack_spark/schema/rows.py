"""Rows of a table as clean columns: the rules that content follows.

Rules      numbers outside their bounds move to the nearer bound; values that were not declared
           become "other"; missing ones follow the declared rule; a row whose label is missing or
           not declared gets label -1 and is left out by whoever counts. Each value is judged by
           itself: no rule looks at another row.
Never      raises on content. An exception that depends on a row is an output without noise.
Same       values give the same result from Spark, pandas and numpy, whatever the column type.
"""

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lumberjack_spark.schema.categorical import Categorical
from lumberjack_spark.schema.category_codes import CategoryCodes
from lumberjack_spark.schema.column_values import numbers_of, plain_array
from lumberjack_spark.schema.data_schema import DataSchema
from lumberjack_spark.schema.list_slots import slots_of
from lumberjack_spark.schema.mistakes import raise_mistakes
from lumberjack_spark.schema.numeric import Numeric
from lumberjack_spark.schema.vector import Vector

CleanColumn = npt.NDArray[np.float64] | npt.NDArray[np.int32]


class RowReader:
    """Reads Arrow batches by the rules of a schema; pickles as the schema alone.

    Args:
        schema: the declarations. `schema.check_columns` has judged the types of the columns.
    """

    def __init__(self, schema: DataSchema) -> None:
        self.schema = schema
        self._codes = {
            feature.name: CategoryCodes(
                feature.declaration.values, feature.declaration.missing_markers
            )
            for feature in schema.features
            if isinstance(feature.declaration, Categorical)
        }
        self._classes = CategoryCodes(schema.classes)

    def __reduce__(self) -> tuple[type["RowReader"], tuple[DataSchema]]:
        return RowReader, (self.schema,)

    def features(self, batch: pa.RecordBatch) -> list[CleanColumn]:
        """Clean columns of n rows in the order of `schema.features`.

        Args:
            batch: has the columns of the schema, in any order, beside any others.

        Returns:
            A numeric feature is float64[n] within its bounds, NaN where missing (only when its
            rule is "low" or "high"). A categorical one is int32[n]: 0..size-1 a declared value,
            size any other, size + 1 missing (only when its rule is "other"). Arrays may be
            read-only.

        Raises:
            SchemaError: a column is not in the batch; content never raises.
        """
        self._require(batch, tuple(self.schema.columns))
        clean: list[CleanColumn] = []
        for name, declared in self.schema.columns.items():
            array = batch.column(name)
            if isinstance(declared, Vector):
                slots = slots_of(array, len(declared.slots))
                for (slot_name, slot), values in zip(declared.slots.items(), slots, strict=True):
                    clean.append(self._clean(slot_name, slot, values))
            else:
                clean.append(self._clean(name, declared, array))
        return clean

    def labels(self, batch: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """Class index int32[n] of each row; -1 where the label is missing or not declared."""
        self._require(batch, (self.schema.label,))
        codes = self._classes.of(batch.column(self.schema.label))
        codes[codes >= self._classes.other] = -1
        return codes

    def _clean(self, name: str, declared: Numeric | Categorical, array: pa.Array) -> CleanColumn:
        """One clean column."""
        if isinstance(declared, Numeric):
            return clean_numbers(numbers_of(plain_array(array)), declared)
        codes = self._codes[name].of(array)
        if declared.missing_code is not None:
            codes[codes == declared.size + 1] = declared.missing_code
        return codes

    def _require(self, batch: pa.RecordBatch, names: tuple[str, ...]) -> None:
        """Refuse a batch in which a column is absent or there twice."""
        fields = batch.schema
        raise_mistakes(
            [
                f"column {name!r} must be in the table exactly once"
                for name in names
                if fields.get_field_index(name) < 0
            ]
        )


def clean_numbers(numbers: npt.NDArray[np.float64], declared: Numeric) -> npt.NDArray[np.float64]:
    """Numbers within their bounds, by the rules of a numeric declaration.

    Args:
        numbers: float64[n], NaN where missing; not changed.
        declared: bounds, markers and the rule for missing numbers.

    Returns:
        A new float64[n]; -0.0 is 0.0; NaN where missing, unless the rule is a number.
    """
    clean = np.clip(numbers, declared.min, declared.max)
    clean += 0.0  # turns -0.0 into 0.0
    for marker in declared.marker_numbers:
        clean[numbers == marker] = math.nan
    if not isinstance(declared.missing, str):
        clean[np.isnan(clean)] = declared.missing
    return clean
