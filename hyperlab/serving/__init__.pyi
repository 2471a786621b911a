# Written by tools/make_stubs.py from what the modules export.
from . import app as app
from . import batching as batching
from . import load_test as load_test
from . import on_ray as on_ray
from . import requests as requests
from . import server as server
from .app import (
    make_app as make_app,
    problem as problem,
    read_body as read_body,
    replayed as replayed,
)
from .batching import (
    BatchCounts as BatchCounts,
    Batcher as Batcher,
    Closing as Closing,
    Decoding as Decoding,
    Job as Job,
    QueueFull as QueueFull,
    answer_batch as answer_batch,
    answer_counted as answer_counted,
    check_room as check_room,
    first_batch as first_batch,
    note_late as note_late,
)
from .load_test import (
    bench_serve as bench_serve,
)
from .on_ray import (
    ServeBatches as ServeBatches,
    start_on_ray as start_on_ray,
    stop_on_ray as stop_on_ray,
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
    running_server as running_server,
    serve_command as serve_command,
)
