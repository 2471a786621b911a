# The public names of hyperlab, by the room they live in.
from .adapters import Gain as Gain, Parallel as Parallel, Serial as Serial
from .generators import Condition as Condition
from .methods.method import (
    available_methods as available_methods,
    get_method as get_method,
    register_method as register_method,
)
from .model import AdaptedModel as AdaptedModel, adapt as adapt, load as load
from .sites import Site as Site, SiteMap as SiteMap, attach as attach
from .cost import Cost as Cost, cost as cost, parameter_table as parameter_table
from .papers import average_table as average_table, averaging_rules as averaging_rules, known_tables as known_tables
from .papers import paper_table as paper_table, table_frame as table_frame
from .metrics import average_metrics as average_metrics, average_tasks as average_tasks
from .splits import LeakWarning as LeakWarning, MissingSplit as MissingSplit, SplitLeak as SplitLeak
from .answers import Accepted as Accepted, Classes as Classes, FreeText as FreeText, Prompt as Prompt, Score as Score
from .entry import Task as Task, provenance as provenance
from .tasks import register_task as register_task, task as task, task_from as task_from, tasks as tasks
from .hub import HubError as HubError, explain_hub_errors as explain_hub_errors
from .data import tokenize as tokenize, tokenize_task as tokenize_task, truncation as truncation
from .sampling import BatchPlan as BatchPlan, padding_cost as padding_cost
from .sampling import sampling_probabilities as sampling_probabilities
from .batches import TrainingBatches as TrainingBatches, evaluation_batches as evaluation_batches, in_order as in_order
from .chunks import best_answers as best_answers, chunk_rows as chunk_rows
from .folder import Run as Run, RunIsBusy as RunIsBusy
from .evaluation import evaluate as evaluate
from .guard import NonFinite as NonFinite, replay as replay
from .protocols import Recipe as Recipe, departures as departures, make_recipe as make_recipe
from .trainer import train as train
from .grid import grid_linear as grid_linear
from .probe import Instances as Instances, Probe as Probe, fit_probe as fit_probe, instance_embeddings as instance_embeddings
from .probe import instances as instances, load_instances as load_instances, save_instances as save_instances
from .reading import answer_questions as answer_questions, scored_answers as scored_answers
from .runs import compare as compare, cost_of_run as cost_of_run, curves as curves, find_runs as find_runs, runs as runs
from .runs import scores_beside_paper as scores_beside_paper
from .statistics import Comparison as Comparison, compare_predictions as compare_predictions, compare_scores as compare_scores
from .statistics import comparison_table as comparison_table, holm as holm
from .verdicts import better as better, compare_methods as compare_methods
from .beside import all_measured as all_measured, beside as beside
from .workbook import Plan as Plan, plan_run as plan_run
from .bench import step_memory as step_memory, take_turns as take_turns
from .bench_table import read_goals as read_goals
from .plan import Forecast as Forecast, measure_speed as measure_speed, plan as plan, plan_table as plan_table
from .comparison import compare_costs as compare_costs, trade_off as trade_off
from .papers_compacter import training_of as training_of
from .sweep import sweep as sweep
from .baselines import baseline as baseline
from .taskmap import families as families, task_map as task_map, task_view as task_view
from .firstrun import method_table as method_table, nano_run as nano_run, score_table as score_table
from .transfer import FewShot as FewShot, few_shot as few_shot
from .starts import Start as Start, search_simplex as search_simplex, source_losses as source_losses
from .shots import compare_sources as compare_sources, read_studies as read_studies, shot_curves as shot_curves
from .shots import shot_table as shot_table, shots_in_paper as shots_in_paper, study as study
from .analysis import Points as Points, Where as Where, chance_explained as chance_explained, position_spread as position_spread
from .analysis import project as project, representations as representations, task_points as task_points
from .analysis import trajectories as trajectories
from .relations import cka as cka, cka_by_layer as cka_by_layer, cluster_tasks as cluster_tasks, family_purity as family_purity
from .relations import instance_probes as instance_probes, linear_probe as linear_probe, nearest_tasks as nearest_tasks
from .relations import similarity_by_site as similarity_by_site
from .microscope import dead_units as dead_units, effective_rank as effective_rank, hypernetwork_rank as hypernetwork_rank
from .microscope import reacting_units as reacting_units, singular_values as singular_values, site_norms as site_norms
from .microscope import unit_activations as unit_activations, weights_of as weights_of
from .mixing import mixture_distance as mixture_distance, path_scores as path_scores
from .widgets.map import EmbeddingMap as EmbeddingMap
from .widgets.mixer import TaskMixer as TaskMixer
from .widgets.inspector import AdapterInspector as AdapterInspector
from .widgets.runboard import RunBoard as RunBoard
from .widgets.dashboard import dashboard as dashboard
