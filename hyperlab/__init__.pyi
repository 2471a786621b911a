# What people type, by the package it comes from; everything else is an attribute of its package, such as hl.analysis.cka.
from . import (
    analysis as analysis,
    bench as bench,
    core as core,
    data as data,
    exchange as exchange,
    experiments as experiments,
    methods as methods,
    nano as nano,
    papers as papers,
    training as training,
    widgets as widgets,
)
from .core.model import AdaptedModel as AdaptedModel, adapt as adapt, load as load
from .core.method import available_methods as available_methods, get_method as get_method, register_method as register_method
from .papers.tables import known_tables as known_tables, paper_table as paper_table
from .papers.parameters import cost as cost, parameter_table as parameter_table
from .data.benchmarks import register_task as register_task, task as task, task_from as task_from, tasks as tasks
from .training.recipes import Recipe as Recipe, departures as departures
from .training.evaluation import baseline as baseline, evaluate as evaluate
from .training.run_folder import Run as Run
from .training.trainer import train as train
from .training.few_shot import few_shot as few_shot
from .training.submission import submission as submission
from .exchange.distillation import distil as distil
from .analysis.task_vectors import families as families, project as project, task_points as task_points, task_view as task_view
from .analysis.similarity import family_purity as family_purity
from .analysis.probes import instances as instances, load_instances as load_instances
from .bench.planning import plan as plan
from .nano.settings import nano_run as nano_run
from .experiments.runs import better as better, compare as compare, curves as curves, find_runs as find_runs, runs as runs
from .experiments.workbooks import plan_run as plan_run
from .experiments.sweep import sweep as sweep
from .experiments.tune import tune as tune
from .experiments.reproduce import known_experiments as known_experiments, reproduce as reproduce
from .experiments.few_shot_study import study as study
from .experiments.measured import select as select
from .experiments.paper_comparison import paper_comparison as paper_comparison
from .experiments.claims_tested import claims as claims
from .widgets.task_mixer import TaskMixer as TaskMixer
from .widgets.task_writer import TaskWriter as TaskWriter
from .widgets.adapter_inspector import AdapterInspector as AdapterInspector
from .widgets.embedding_map import EmbeddingMap as EmbeddingMap
from .widgets.methods_panel import MethodsPanel as MethodsPanel
from .widgets.run_board import RunBoard as RunBoard
from .widgets.dashboard import dashboard as dashboard
