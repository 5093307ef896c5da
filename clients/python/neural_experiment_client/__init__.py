"""Open experiments on a spiking model of the fruit fly brain, for notebooks and scripts.

    from neural_experiment_client import Lab

    lab = Lab("http://localhost:8080")
    result = lab.run(
        inputs={"loom": {"node_set": ["LC4:left", "LPLC2:left"], "rate_hz": 100}},
        reports={"giant_fibre": {"node_set": "DNp01", "group_by": ["side"]}},
    )
    result.rates  # a pandas.DataFrame

Only the standard library is needed. DataFrames need pandas, figures matplotlib, and an Arrow or Parquet file of more
rows than the service sends at once pyarrow.
"""

from .answers import Progress, print_progress
from .client import Lab
from .documents import Document, Selector
from .errors import LabConnectionError, LabError
from .jobs import Job, JobState, print_job_state
from .results import Drawing, Result
from .sessions import Session
from .shiu import default_params, run_exp
from .version import __version__

__all__ = [
    "Document",
    "Drawing",
    "Job",
    "JobState",
    "Lab",
    "LabConnectionError",
    "LabError",
    "Progress",
    "Result",
    "Selector",
    "Session",
    "__version__",
    "default_params",
    "print_job_state",
    "print_progress",
    "run_exp",
]
