"""What is publicly known of a table, and the rules by which its rows are read.

Declarations
    numeric, categorical, vector   one feature column each: bounds, values, slots; missing values
    values                         rules for lists of categories and classes; IntegerRange
    data_schema                    DataSchema: features, label, classes; all mistakes in one error
    documents, yaml_text           plain values and YAML, both ways
    column_types                   which column types can serve a declaration
    mistakes                       the error that lists mistakes; nearest known names
Rows
    rows                           RowReader: Arrow batches -> clean numpy columns and labels
    tables                         pandas frames and numpy matrices -> Arrow batches
    column_values, list_slots      arrays of any type as numbers, texts and slots
    category_codes, number_table   codes of declared values
    text_numbers                   numbers written as text
"""

from lumberjack_spark.schema.categorical import Categorical
from lumberjack_spark.schema.data_schema import DataSchema, Feature
from lumberjack_spark.schema.mistakes import SchemaMistakesError
from lumberjack_spark.schema.numeric import Numeric
from lumberjack_spark.schema.rows import RowReader
from lumberjack_spark.schema.tables import batch_from_numpy, batch_from_pandas
from lumberjack_spark.schema.values import IntegerRange
from lumberjack_spark.schema.vector import Vector

__all__ = [
    "Categorical",
    "DataSchema",
    "Feature",
    "IntegerRange",
    "Numeric",
    "RowReader",
    "SchemaMistakesError",
    "Vector",
    "batch_from_numpy",
    "batch_from_pandas",
]
