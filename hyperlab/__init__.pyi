# The public names of hyperlab, by the room they live in.
from .core.adapters import Gain as Gain, Parallel as Parallel, Serial as Serial
from .core.generators import Condition as Condition
from .core.method import (
    available_methods as available_methods,
    get_method as get_method,
    register_method as register_method,
)
from .core.model import AdaptedModel as AdaptedModel, adapt as adapt, load as load
from .core.sites import Site as Site, SiteMap as SiteMap, attach as attach
from .papers.parameters import Cost as Cost, cost as cost, parameter_table as parameter_table
from .papers.tables import (
    average_table as average_table,
    averaging_rules as averaging_rules,
    known_tables as known_tables,
)
from .papers.tables import paper_table as paper_table, table_frame as table_frame
from .data.metrics import average_metrics as average_metrics, average_tasks as average_tasks
from .data.splits import (
    LeakWarning as LeakWarning,
    MissingSplit as MissingSplit,
    SplitLeak as SplitLeak,
)
from .data.prompts import (
    Accepted as Accepted,
    Classes as Classes,
    FreeText as FreeText,
    Template as Template,
    Score as Score,
)
from .data.task import Task as Task, provenance as provenance
from .data.benchmarks import (
    register_task as register_task,
    task as task,
    task_from as task_from,
    tasks as tasks,
)
from .core.errors import HubError as HubError, explain_hub_errors as explain_hub_errors
from .data.tokens import tokenize as tokenize, tokenize_task as tokenize_task, truncation as truncation
from .data.batches import BatchPlan as BatchPlan, padding_cost as padding_cost
from .data.batches import sampling_probabilities as sampling_probabilities
from .data.batches import (
    TrainingBatches as TrainingBatches,
    evaluation_batches as evaluation_batches,
    in_order as in_order,
)
from .data.tokens import best_answers as best_answers, chunk_rows as chunk_rows
from .training.run_folder import Run as Run, RunIsBusy as RunIsBusy
from .training.evaluation import evaluate as evaluate
from .training.update import NonFinite as NonFinite, replay as replay
from .training.recipes import Recipe as Recipe, departures as departures, make_recipe as make_recipe
from .training.trainer import train as train
from .methods.hypergrid import grid_linear as grid_linear
from .analysis.probes import (
    Instances as Instances,
    Probe as Probe,
    fit_probe as fit_probe,
    instance_embeddings as instance_embeddings,
)
from .analysis.probes import (
    instances as instances,
    load_instances as load_instances,
    save_instances as save_instances,
)
from .training.evaluation import answer_questions as answer_questions, scored_answers as scored_answers
from .experiments.runs import (
    compare as compare,
    cost_of_run as cost_of_run,
    curves as curves,
    find_runs as find_runs,
    runs as runs,
)
from .experiments.paper_comparison import scores_beside_paper as scores_beside_paper
from .analysis.statistics import (
    Comparison as Comparison,
    compare_predictions as compare_predictions,
    compare_scores as compare_scores,
)
from .analysis.statistics import comparison_table as comparison_table, holm as holm
from .experiments.runs import better as better, compare_methods as compare_methods
from .experiments.paper_comparison import all_measured as all_measured, paper_comparison as paper_comparison
from .experiments.workbooks import Plan as Plan, plan_run as plan_run
from .bench.measuring import step_memory as step_memory, time_interleaved as time_interleaved
from .bench.measuring import read_goals as read_goals
from .bench.planning import (
    Forecast as Forecast,
    measure_speed as measure_speed,
    plan as plan,
    plan_table as plan_table,
)
from .bench.contenders import compare_costs as compare_costs, trade_off as trade_off
from .papers.compacter import training_of as training_of
from .experiments.sweep import sweep as sweep
from .training.evaluation import baseline as baseline
from .analysis.task_vectors import families as families, task_view as task_view
from .analysis.figures import task_map as task_map
from .experiments.shipped_results import method_table as method_table, score_table as score_table
from .nano.settings import nano_run as nano_run
from .training.few_shot import FewShot as FewShot, few_shot as few_shot
from .training.few_shot import (
    Start as Start,
    search_simplex as search_simplex,
    source_losses as source_losses,
)
from .experiments.few_shot_study import (
    compare_sources as compare_sources,
    read_studies as read_studies,
    shot_curves as shot_curves,
)
from .experiments.few_shot_study import (
    shot_table as shot_table,
    shots_in_paper as shots_in_paper,
    study as study,
)
from .analysis.task_vectors import (
    Points as Points,
    Where as Where,
    chance_explained as chance_explained,
    position_spread as position_spread,
)
from .analysis.task_vectors import (
    project as project,
    representations as representations,
    task_points as task_points,
)
from .analysis.task_vectors import trajectories as trajectories
from .analysis.similarity import (
    cka as cka,
    cka_by_layer as cka_by_layer,
    cluster_tasks as cluster_tasks,
    family_purity as family_purity,
)
from .analysis.probes import instance_probes as instance_probes, linear_probe as linear_probe
from .analysis.similarity import nearest_tasks as nearest_tasks
from .analysis.similarity import similarity_by_site as similarity_by_site
from .analysis.adapter_weights import (
    dead_units as dead_units,
    effective_rank as effective_rank,
    hypernetwork_rank as hypernetwork_rank,
)
from .analysis.adapter_weights import (
    reacting_units as reacting_units,
    singular_values as singular_values,
    site_norms as site_norms,
)
from .analysis.adapter_weights import unit_activations as unit_activations, weights_of as weights_of
from .analysis.interpolation import mixture_distance as mixture_distance, path_scores as path_scores
from .widgets.embedding_map import EmbeddingMap as EmbeddingMap
from .widgets.task_mixer import TaskMixer as TaskMixer
from .widgets.adapter_inspector import AdapterInspector as AdapterInspector
from .widgets.dashboard import RunBoard as RunBoard
from .widgets.dashboard import dashboard as dashboard
