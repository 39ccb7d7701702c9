"""The estimator and its model on a classic Spark session."""

import gc
import logging
import traceback

import numpy as np
import pyarrow as pa
import pytest

from lumberjack_spark import LumberjackClassificationModel, LumberjackClassifier
from lumberjack_spark.errors import BudgetError, ModelFormatError, SchemaError, SparkFailureError
from lumberjack_spark.schema import DataSchema, Numeric, Vector
from lumberjack_spark.training import LocalBackend, fit_forest
from tests.small_models import KEY, SCHEMA, small_table

pytestmark = pytest.mark.spark

SETTINGS = {
    "epsilon": 50.0,
    "delta": 1e-6,
    "numTrees": 5,
    "maxDepth": 7,
    "accountant": "theorem6",
    "minExactCount": 1,
}


def classifier(**changes):
    return LumberjackClassifier(**{"schema": SCHEMA, **SETTINGS, **changes})


@pytest.fixture(scope="module")
def table():
    return small_table()


@pytest.fixture(scope="module")
def rows(spark, table):
    return spark.createDataFrame(table).repartition(3, "age")


@pytest.fixture(scope="module")
def model(rows):
    return classifier(labelIndexCol="labelIndex")._fit_with_key(rows, KEY)


def test_spark_fits_the_model_that_one_process_fits(model, table):
    estimator = classifier()
    twin = fit_forest(LocalBackend([table.to_batches()]), SCHEMA, estimator.plan(), seed=0, key=KEY)
    assert (model.forest.structure.nodes == twin.structure.nodes).all()
    assert (model.forest.leaf_counts == twin.leaf_counts).all()


def test_scores_are_those_of_the_model_without_spark(model, rows, table):
    found = model.transform(rows.repartition(5)).toArrow().sort_by("age")
    expected = model.predict(found)
    assert found.column("prediction").to_pylist() == expected.prediction.tolist()
    assert found.column("predictedLabel").to_pylist() == expected.label.tolist()
    for name, values in (("rawPrediction", expected.raw), ("probability", expected.probability)):
        vectors = found.column(name).combine_chunks().field("values").flatten()
        assert (vectors.to_numpy() == values.ravel()).all()
    (row,) = model.transform(rows.limit(1)).select("rawPrediction", "probability").collect()
    assert (len(row.rawPrediction), len(row.probability)) == (2, 2)


def test_scores_are_the_same_in_small_arrow_batches(spark, model, rows):
    expected = model.transform(rows).toArrow().sort_by("age")
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    spark.conf.set(name, "7")
    try:
        found = model.transform(rows).toArrow().sort_by("age")
    finally:
        spark.conf.set(name, before)
    for column in ("age", "prediction", "rawPrediction", "probability", "labelIndex"):
        assert found.column(column).to_pylist() == expected.column(column).to_pylist()


def test_scores_are_the_same_where_spark_has_no_arrow_functions(model, rows, monkeypatch):
    expected = model.transform(rows).toArrow().sort_by("age")
    monkeypatch.delattr("pyspark.sql.functions.arrow_udf", raising=False)
    found = model.transform(rows).toArrow().sort_by("age")
    for name in ("age", "prediction", "rawPrediction", "probability", "predictedLabel"):
        assert found.column(name).to_pylist() == expected.column(name).to_pylist()


def test_any_columns_beside_and_any_order_serve_and_pass_through(model, rows):
    odd = rows.withColumns({"a.b": rows["age"] + 1, "所得": rows["city"]}).drop("income")
    odd = odd.select(*reversed([f"`{name}`" for name in odd.columns]))
    scored = model.transform(odd)
    added = ["rawPrediction", "probability", "prediction", "predictedLabel"]
    assert scored.columns == [*odd.columns, *added]
    row = scored.where("`a.b` = 31").head()
    assert row["a.b"] == row["age"] + 1


def test_two_columns_of_one_name_beside_the_schema_do_not_matter(model, rows):
    twice = rows.select("*", rows["age"].alias("id"), rows["age"].alias("id"))
    assert model.transform(twice).columns.count("id") == 2


NAMES = ["a.b", "a b", "a,b", "tick`s", "[x]", "Income:USD", 'it\'s "q"', "所得"]


def test_columns_of_any_name_train_save_load_and_score(spark, tmp_path):
    from pyspark.sql import functions as sql

    number = sql.col("id") % 100
    struct = sql.struct(sql.lit(-1).alias("b")).alias("a")  # a.b names its field too
    columns = [number.alias(name) for name in NAMES]
    table = spark.range(200).select(struct, *columns, (number > 50).alias("the `label`"))
    schema = DataSchema(
        {name: Numeric(0, 100) for name in NAMES}, label="the `label`", classes=[False, True]
    )
    estimator = classifier(schema=schema, labelIndexCol="index", materializeDir=str(tmp_path))
    model = estimator.fit(table)
    model.save(str(tmp_path / "model"))
    loaded = LumberjackClassificationModel.load(str(tmp_path / "model"))
    scored = loaded.transform(table).where("prediction = index")
    assert scored.count() > 150
    rows = table.drop("a").toPandas()
    assert (model.predict(rows).label == rows["the `label`"]).mean() > 0.75


def test_columns_can_be_renamed_and_left_out(model, rows):
    other = model.copy().setRawPredictionCol("").setPredictionCol("p").setLabelIndexCol("")
    assert other.transform(rows).columns[len(rows.columns) :] == [
        "probability",
        "p",
        "predictedLabel",
    ]
    assert model.getPredictionCol() == "prediction"


def test_a_column_in_the_way_of_scores_is_named(model, rows):
    with pytest.raises(SchemaError, match="'prediction' must not be in the table"):
        model.transform(rows.withColumnRenamed("hours", "Prediction").withColumn("hours", rows.age))
    with pytest.raises(SchemaError, match="different names"):
        model.copy().setPredictionCol("probability").transform(rows)


def test_only_the_schemas_columns_leave_the_jvm(model, rows):
    from pyspark.sql import functions as sql

    wide = rows.withColumn("secret", sql.lit("x")).withColumn("moment", sql.current_timestamp())
    plan = model.transform(wide)._jdf.queryExecution().executedPlan().toString()
    (evaluated,) = [line for line in plan.splitlines() if "ArrowEvalPython" in line]
    sent = evaluated.split("[pythonUDF")[0]
    assert "city" in sent
    assert "secret" not in sent
    assert "moment" not in sent


def test_workers_do_not_look_through_what_stays_loaded_after_each_task(model, rows):
    def frozen(batches):
        kept = gc.get_freeze_count()
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array([kept] * batch.num_rows)], ["n"])

    model.transform(rows).write.format("noop").mode("overwrite").save()
    counts = rows.mapInArrow(frozen, "n long").toArrow()["n"].to_pylist()
    assert max(counts) > 10_000


def test_spark_evaluators_read_the_scores(model, rows):
    from pyspark.ml.evaluation import (
        BinaryClassificationEvaluator,
        MulticlassClassificationEvaluator,
    )

    scored = model.transform(rows)
    by_label = MulticlassClassificationEvaluator(labelCol="labelIndex", metricName="accuracy")
    assert by_label.evaluate(scored) > 0.8
    loss = MulticlassClassificationEvaluator(labelCol="labelIndex", metricName="logLoss")
    assert loss.evaluate(scored) < 0.6
    assert BinaryClassificationEvaluator(labelCol="labelIndex").evaluate(scored) > 0.8


def test_the_label_index_is_null_where_the_label_is_not_declared(model, rows):
    from pyspark.sql import functions as sql

    odd = rows.limit(2).withColumn("income", sql.lit("huge"))
    assert [row.labelIndex for row in model.transform(odd).collect()] == [None, None]
    assert "labelIndex" not in model.transform(rows.drop("income")).columns


def test_the_model_says_what_it_is(model, rows):
    assert (model.numClasses, model.numFeatures, model.numTrees) == (2, 3, 5)
    assert model.totalNumNodes == sum(model.numNodes)
    assert model.toDebugString.count("\nTree ") == 5
    assert model.featureImportances.toArray().sum() == pytest.approx(1.0)
    assert model.certificate["epsilon"] == 50.0
    assert model.certificate["private"] is False
    assert model.certificateText.startswith("NOT PRIVATE")
    assert classifier().fit(rows).certificate["private"] is True


def test_sparse_and_dense_vectors_and_columns_give_the_same_model(spark):
    from pyspark.ml.linalg import Vectors

    rng = np.random.default_rng(3)
    values = rng.integers(0, 3, (400, 2)).astype(float)
    labels = [int(a > 0) for a, _ in values]
    dense = [(Vectors.dense(v), y) for v, y in zip(values, labels, strict=True)]
    full = [(Vectors.sparse(2, [0, 1], list(v)), y) for v, y in zip(values, labels, strict=True)]
    sparse = [
        (Vectors.sparse(2, {i: x for i, x in enumerate(v) if x}), y)
        for v, y in zip(values, labels, strict=True)
    ]
    plain = [(float(a), float(b), y) for (a, b), y in zip(values, labels, strict=True)]
    slots = {"a": Numeric(0, 2), "b": Numeric(0, 2)}
    label = {"label": "y", "classes": [0, 1]}
    models, scores = [], []
    for data in (dense, full, sparse, plain):
        columns, features = ["v", "y"], {"v": Vector(slots)}
        if data is plain:
            columns, features = ["a", "b", "y"], slots
        table = spark.createDataFrame(data, columns)
        model = classifier(schema=DataSchema(features, **label))._fit_with_key(table, KEY)
        models.append(model.forest)
        scores.append([row.rawPrediction for row in model.transform(table).collect()])
    for other in models[1:]:
        assert (other.leaf_counts == models[0].leaf_counts).all()
    assert scores[1:] == scores[:1] * 3


def test_no_rows_and_two_rows_give_a_model(rows):
    for few in (rows.limit(0), rows.limit(2)):
        model = classifier().fit(few)
        assert model.transform(rows.limit(5)).count() == 5


def failing(rows):
    """A table that fails, with a row in the message, as soon as a job reads it."""
    from pyspark.sql import functions as sql

    return rows.withColumn(
        "age", sql.when(sql.col("age") > 1, sql.raise_error(sql.lit("row of Ann, 31"))).otherwise(1)
    )


def test_declarations_are_checked_before_any_job(rows):
    broken = failing(rows)
    with pytest.raises(SchemaError, match="'city' is missing"):
        classifier().fit(broken.drop("city"))
    with pytest.raises(SchemaError, match="date"):
        classifier().fit(broken.selectExpr("age", "hours", "income", "current_date() city"))
    with pytest.raises(BudgetError):
        classifier(epsilon=-1.0).fit(broken)


@pytest.mark.parametrize("copy", [False, True])
def test_a_failure_of_spark_shows_no_row(rows, tmp_path, copy):
    estimator = classifier(materializeDir=str(tmp_path) if copy else "")
    with pytest.raises(SparkFailureError) as caught:
        estimator.fit(failing(rows))
    told = "".join(traceback.format_exception(caught.value))
    assert "Ann" not in told
    assert "USER_RAISED_EXCEPTION" in told or "failed" in told
    assert list(tmp_path.iterdir()) == []


def test_a_copy_to_train_from_reads_once_and_is_removed(rows, tmp_path, model):
    folder = tmp_path / "copy"
    copied = classifier(materializeDir=str(folder))._fit_with_key(rows, KEY)
    assert (copied.forest.leaf_counts == model.forest.leaf_counts).all()
    assert list(folder.iterdir()) == []


def test_a_model_is_saved_and_loaded_with_its_columns(spark, model, rows, tmp_path):
    path = str(tmp_path / "model")
    model.copy().setPredictionCol("p").save(path)
    loaded = LumberjackClassificationModel.load(path)
    assert loaded.uid == model.uid
    assert (loaded.getPredictionCol(), loaded.getLabelIndexCol()) == ("p", "labelIndex")
    assert loaded.certificate == model.certificate
    first = loaded.transform(rows).select("rawPrediction").collect()
    assert first == model.transform(rows).select("rawPrediction").collect()
    with pytest.raises(FileExistsError):
        model.save(path)
    model.write().overwrite().save(path)
    assert LumberjackClassificationModel.load(f"file:{path}").getPredictionCol() == "prediction"


def test_a_path_of_another_kind_is_named(model, tmp_path):
    model.save(str(tmp_path / "model"))
    classifier().save(str(tmp_path / "estimator"))
    with pytest.raises(ModelFormatError, match=r"use LumberjackClassificationModel\.load"):
        LumberjackClassifier.load(str(tmp_path / "model"))
    with pytest.raises(ModelFormatError, match=r"use LumberjackClassifier\.load"):
        LumberjackClassificationModel.load(str(tmp_path / "estimator"))
    with pytest.raises(ModelFormatError, match="no saved estimator"):
        LumberjackClassifier.load(str(tmp_path / "none"))


def test_an_estimator_is_saved_and_loaded(spark, tmp_path):
    path = str(tmp_path / "estimator")
    estimator = classifier(threshold="gaussian")
    for _ in range(2):
        estimator.write().overwrite().save(path)
        loaded = LumberjackClassifier.load(path)
        assert loaded.uid == estimator.uid
        assert loaded.getSchema() == SCHEMA
        values = [{p.name: v for p, v in e.extractParamMap().items()} for e in (estimator, loaded)]
        assert values[0] == values[1]


def test_a_pipeline_is_fitted_saved_and_loaded_and_warns_of_fitted_stages(rows, tmp_path, caplog):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import SQLTransformer, StringIndexer

    stages = [
        SQLTransformer(statement="select *, age + 1 as older from __THIS__"),
        StringIndexer(inputCol="city", outputCol="place"),
        classifier(),
    ]
    with caplog.at_level(logging.WARNING):
        fitted = Pipeline(stages=stages).fit(rows)
    (warning,) = fitted.stages[-1].certificate["warnings"]
    assert warning == "Stages fitted before this one are not covered: StringIndexer."
    assert warning in caplog.text
    fitted.write().overwrite().save(str(tmp_path / "fitted"))
    loaded = PipelineModel.load(str(tmp_path / "fitted"))
    first = loaded.transform(rows).select("rawPrediction").collect()
    assert first == fitted.transform(rows).select("rawPrediction").collect()
    Pipeline(stages=stages).save(str(tmp_path / "pipeline"))
    assert Pipeline.load(str(tmp_path / "pipeline")).getStages()[-1].getEpsilon() == 50.0
    assert classifier().fit(rows).certificate["warnings"] == []


def test_a_search_fits_with_fresh_keys_and_marks_its_choice(rows):
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.tuning import ParamGridBuilder, TrainValidationSplit

    estimator = classifier(labelIndexCol="labelIndex")
    grid = ParamGridBuilder().addGrid(estimator.maxDepth, [1, 7]).build()
    found = TrainValidationSplit(
        estimator=estimator,
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(labelCol="labelIndex"),
    ).fit(rows)
    assert "search" in found.bestModel.certificate["warnings"][0]
    assert found.bestModel.certificate["private"] is False
    twins = [m.forest.leaf_counts for m in estimator.fit(rows, [{}, {}])]
    assert twins[0].shape != twins[1].shape or (twins[0] != twins[1]).any()


def test_labels_of_any_kind_come_back_in_their_type(spark):
    from pyspark.sql import functions as sql

    base = spark.range(300).select(
        (sql.col("id") % 100).alias("age"), (sql.col("id") % 2).alias("k")
    )
    cases = [
        (["no", "yes"], "if(k = 1, 'yes', 'no')", "string"),
        ([2, 3, 4], "cast(k + 2 as decimal(10, 0))", "bigint"),
        ([-1, 1], "cast(k * 2 - 1 as double)", "bigint"),
        ([False, True], "k = 1", "boolean"),
    ]
    for classes, expression, kind in cases:
        table = base.select("age", sql.expr(expression).alias("y"))
        schema = DataSchema({"age": Numeric(0, 100)}, label="y", classes=classes)
        scored = classifier(schema=schema).fit(table).transform(table)
        assert dict(scored.dtypes)["predictedLabel"] == kind
        row = scored.head()
        assert row.predictedLabel == classes[int(row.prediction)]
        assert len(row.probability) == len(classes)
