"""How many rows each row rule touches. Not private: for the data's owner alone.

Rules      of a numeric feature: below (moved up to min), above (moved down to max), missing. Of a
           categorical one: other (not declared), missing. Of the label: missing or not declared,
           the rows that are left out.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lumberjack_spark.schema import Categorical, DataSchema, Feature, Numeric, Vector
from lumberjack_spark.schema.category_codes import CategoryCodes
from lumberjack_spark.schema.column_values import numbers_of, plain_array
from lumberjack_spark.schema.list_slots import slots_of
from lumberjack_spark.schema.rows import clean_numbers

NUMERIC_RULES = ("below", "above", "missing")
CATEGORICAL_RULES = ("other", "missing")
LABEL_RULES = ("missing", "not_declared")


def rule_names(schema: DataSchema) -> list[tuple[str, str]]:
    """(feature or label, rule) for each counter, the label first."""
    names = [(schema.label, rule) for rule in LABEL_RULES]
    for feature in schema.features:
        rules = NUMERIC_RULES if feature.is_numeric else CATEGORICAL_RULES
        names += [(feature.name, rule) for rule in rules]
    return names


class RuleCounter:
    """Counts rows of batches; made once for many of them.

    Args:
        schema: the declarations. `schema.check_columns` has judged the types of the columns.
    """

    def __init__(self, schema: DataSchema) -> None:
        self._schema = schema
        self._classes = CategoryCodes(schema.classes)
        self._codes = {
            feature.name: CategoryCodes(
                feature.declaration.values, feature.declaration.missing_markers
            )
            for feature in schema.features
            if isinstance(feature.declaration, Categorical)
        }

    def touched(self, batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Rows of a batch that each rule touches: int64[n_rules], in the order of rule_names."""
        found = self._classes.of(batch.column(self._schema.label))
        counts = [_count(found == self._classes.other + 1), _count(found == self._classes.other)]
        for feature in self._schema.features:
            array = self._column(batch, feature)
            if isinstance(feature.declaration, Numeric):
                counts += _numeric_counts(numbers_of(plain_array(array)), feature.declaration)
            else:
                codes, size = self._codes[feature.name].of(array), feature.declaration.size
                counts += [_count(codes == size), _count(codes == size + 1)]
        return np.array(counts, np.int64)

    def _column(self, batch: pa.RecordBatch, feature: Feature) -> pa.Array:
        """Values of a feature as they came."""
        array, declared = batch.column(feature.column), self._schema.columns[feature.column]
        if feature.slot is None or not isinstance(declared, Vector):
            return array
        return slots_of(array, len(declared.slots))[feature.slot]


def _count(rows: npt.NDArray[np.bool_]) -> int:
    """Number of rows that are marked."""
    return int(np.count_nonzero(rows))


def _numeric_counts(numbers: npt.NDArray[np.float64], declared: Numeric) -> list[int]:
    """Rows below, above and missing."""
    # By this rule a missing number stays NaN.
    missing = np.isnan(clean_numbers(numbers, replace(declared, missing="low")))
    below, above = numbers < declared.min, numbers > declared.max
    return [_count(below & ~missing), _count(above & ~missing), _count(missing)]
