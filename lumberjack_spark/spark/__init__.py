"""The passes over Spark tables, scoring, and saved models where Spark keeps files.

columns       the columns of a schema, checked before any job
backend       the passes of a fit over partitions
shuffle_keys  keys that spread trees evenly over tasks
batches       columns gathered into larger batches
score         scores beside the columns of a table
shipping      how a forest reaches the workers
copy          a copy of the rows to train from
storage       saved models wherever Spark keeps files
progress      what a long stage shows while it runs
failures      Spark's exceptions without the content of rows

DataFrame API only, so that all of it runs on Spark Connect; what a classic session can do beyond
is in the modules _classic*, each with an answer for Connect.
"""
