# Written by tools/make_stubs.py from what the modules export.
from . import continual as continual
from . import environment as environment
from . import evaluation as evaluation
from . import few_shot as few_shot
from . import recipes as recipes
from . import run_folder as run_folder
from . import submission as submission
from . import trainer as trainer
from . import update as update
from .continual import (
    KEEPS as KEEPS,
    Learning as Learning,
    begin_task as begin_task,
    drift as drift,
    flat_weights as flat_weights,
    forgetting as forgetting,
    forward_transfer as forward_transfer,
    learn_task as learn_task,
)
from .environment import (
    Interruption as Interruption,
    Stopped as Stopped,
    average_gradients as average_gradients,
    check_machine as check_machine,
    chosen_loggers as chosen_loggers,
    clip_gradients as clip_gradients,
    compiled as compiled,
    kept_whole as kept_whole,
    logger_numbers as logger_numbers,
    logger_options as logger_options,
    make_accelerator as make_accelerator,
    prepare_forward as prepare_forward,
    prepare_optimizer as prepare_optimizer,
    savings_undone as savings_undone,
    unit_modules as unit_modules,
    where_it_runs as where_it_runs,
)
from .evaluation import (
    Evaluation as Evaluation,
    KINDS as KINDS,
    answer_questions as answer_questions,
    baseline as baseline,
    evaluate as evaluate,
    join_evaluations as join_evaluations,
    predict as predict,
    prediction_table as prediction_table,
    scored_answers as scored_answers,
    write as write,
)
from .few_shot import (
    FewShot as FewShot,
    Start as Start,
    choose_start as choose_start,
    mean_loss as mean_loss,
    paper_source as paper_source,
    search_simplex as search_simplex,
    source_losses as source_losses,
    tuning as tuning,
)
from .recipes import (
    PAPER_OPTIONS as PAPER_OPTIONS,
    Recipe as Recipe,
    Splits as Splits,
    departures as departures,
    load_data as load_data,
    make_recipe as make_recipe,
    model_departures as model_departures,
    model_recipe as model_recipe,
    own_trials as own_trials,
    paper_of as paper_of,
    training_rows as training_rows,
    tuned_recipe as tuned_recipe,
    tuning_records as tuning_records,
    warn_of_scale as warn_of_scale,
)
from .run_folder import (
    Run as Run,
    RunIsBusy as RunIsBusy,
    begin_session as begin_session,
    check_same_run as check_same_run,
    default_folder as default_folder,
    give_shares as give_shares,
    load_snapshot as load_snapshot,
    load_weights as load_weights,
    locked as locked,
    needed_steps as needed_steps,
    newest_snapshot as newest_snapshot,
    peak_memory as peak_memory,
    prune as prune,
    read_run_dir as read_run_dir,
    run_config as run_config,
    save_snapshot as save_snapshot,
    selected_steps as selected_steps,
    snapshot_name as snapshot_name,
    snapshots as snapshots,
    versions as versions,
)
from .submission import (
    Submission as Submission,
)
from .trainer import (
    Trainer as Trainer,
    gradients as gradients,
    train as train,
)
from .update import (
    NonFinite as NonFinite,
    OPTIMIZERS as OPTIMIZERS,
    Progress as Progress,
    SCHEDULES as SCHEDULES,
    autocast as autocast,
    batch_logits as batch_logits,
    batch_loss as batch_loss,
    check_trainable as check_trainable,
    make_optimizer as make_optimizer,
    nonfinite_gradient as nonfinite_gradient,
    nonfinite_state as nonfinite_state,
    on_device as on_device,
    parameter_groups as parameter_groups,
    penalised_loss as penalised_loss,
    preserve_rng_state as preserve_rng_state,
    rate_factor as rate_factor,
    replay as replay,
    seed_everything as seed_everything,
    set_rates as set_rates,
    split_batch as split_batch,
    step_seed as step_seed,
    stop_at_nonfinite as stop_at_nonfinite,
    target_tokens as target_tokens,
    token_loss as token_loss,
    total as total,
    trained_parameters as trained_parameters,
    with_positions as with_positions,
)
