"""What a fit can see of the pipeline or search around it, for warnings.

pyspark.ml hands a stage its table and nothing else, so the callers' frames are looked at. What is
not seen is not claimed: the certificate says in general that such stages are not covered.
"""

import inspect
from typing import Any

from pyspark.ml import Estimator, Model, Pipeline
from pyspark.ml.tuning import CrossValidator, TrainValidationSplit


def fitted_before(stage: Any) -> list[str]:
    """Names of the stages fitted on the rows that stand before a stage in the running pipeline."""
    for caller in _callers():
        if isinstance(caller, Pipeline):
            stages = caller.getStages()
            place = next((i for i, each in enumerate(stages) if each.uid == stage.uid), 0)
            return [
                type(each).__name__
                for each in stages[:place]
                if isinstance(each, (Estimator, Model))
            ]
    return []


def is_selected() -> bool:
    """Whether this fit is part of a search that looks at exact metrics of held-out rows."""
    return any(isinstance(caller, (CrossValidator, TrainValidationSplit)) for caller in _callers())


def _callers() -> list[Any]:
    """Objects whose `_fit` is running, innermost first."""
    found = []
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "_fit":
            found.append(frame.f_locals.get("self"))
        frame = frame.f_back
    return found
