"""Programs for spark-submit and plain python: `python jobs/train.py conf/flights.yaml`.

Programs
    train       trains a forest and saves it; --dry-run shows the plan without any data
    predict     writes the rows of a table with their predictions
    evaluate    metrics on held-out rows; not private
    check       how many rows each row rule touches; not private
Programs that judge the package itself
    study       accuracy of many settings on several tables
    benchmark   time and memory beside other forests
    cost_model  what larger tables would take
    audit       lower bounds on epsilon by attacks on small forests
What they share
    _config     the config file and --set
    _datasets   named data sets
    _tables     rows of the input, held-out rows, the output's place
    _forest     the estimator of a config; its plan in words and as JSON
    _metrics    figures of held-out rows
    _row_rules  counts of touched rows
    _session    the Spark session
    _runner     command line, log, exit codes
"""
