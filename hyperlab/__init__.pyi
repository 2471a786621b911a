# The public names of hyperlab, by the room they live in.
from .sites import Site as Site
from .metrics import average_metrics as average_metrics, average_tasks as average_tasks
from .splits import LeakWarning as LeakWarning, MissingSplit as MissingSplit, SplitLeak as SplitLeak
from .answers import Accepted as Accepted, Classes as Classes, FreeText as FreeText, Prompt as Prompt, Score as Score
from .entry import Task as Task, provenance as provenance
from .tasks import register_task as register_task, task as task, task_from as task_from, tasks as tasks
