"""The package needs neither Spark nor a source of randomness."""

import subprocess
import sys


def test_importing_the_package_starts_no_spark_and_loads_none():
    code = (
        "import sys, lumberjack_spark.privacy;"
        "assert 'pyspark' not in sys.modules;"
        "assert 'secrets' not in sys.modules or 'lumberjack_spark.noise' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
