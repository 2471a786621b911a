# Written by tools/make_stubs.py from what the modules export.
from . import app as app
from . import batching as batching
from . import requests as requests
from . import server as server
from .app import (
    TakesJobs as TakesJobs,
    make_app as make_app,
)
from .batching import (
    BatchCounts as BatchCounts,
    Batcher as Batcher,
    Closing as Closing,
    Decoding as Decoding,
    Job as Job,
    QueueFull as QueueFull,
    answer_batch as answer_batch,
)
from .requests import (
    Answers as Answers,
    Generate as Generate,
    Limits as Limits,
    Problem as Problem,
    Refused as Refused,
    State as State,
    Tasks as Tasks,
    choose_model as choose_model,
    read_jobs as read_jobs,
)
from .server import (
    find_models as find_models,
    load_models as load_models,
    running_server as running_server,
    serve_command as serve_command,
    wait_until_ready as wait_until_ready,
    warm_up as warm_up,
)
