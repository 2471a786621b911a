# Written by tools/make_stubs.py from what the modules export.
from . import agreement as agreement
from . import claim_effects as claim_effects
from . import claims_tested as claims_tested
from . import continual_study as continual_study
from . import described_study as described_study
from . import few_shot_study as few_shot_study
from . import known_experiments as known_experiments
from . import many_study as many_study
from . import measured as measured
from . import paper_comparison as paper_comparison
from . import paper_studies as paper_studies
from . import reproduce as reproduce
from . import runs as runs
from . import shipped_results as shipped_results
from . import side_by_side as side_by_side
from . import sweep as sweep
from . import tune as tune
from . import workbooks as workbooks
from .agreement import (
    measured_page as measured_page,
    measured_pages as measured_pages,
)
from .claim_effects import (
    EFFECTS as EFFECTS,
    ENOUGH_SEEDS as ENOUGH_SEEDS,
    Effect as Effect,
    Records as Records,
    WORLDS as WORLDS,
    read_records as read_records,
    worlds_of as worlds_of,
)
from .claims_tested import (
    ClaimResult as ClaimResult,
    ClaimTable as ClaimTable,
    FAILS as FAILS,
    HOLDS as HOLDS,
    UNDECIDED as UNDECIDED,
    claims as claims,
    verdict as verdict,
)
from .continual_study import (
    CONTINUAL as CONTINUAL,
    ContinualCell as ContinualCell,
    by_contender as by_contender,
    continual_numbers as continual_numbers,
    continual_picture as continual_picture,
    continual_records as continual_records,
    continual_sentence as continual_sentence,
    continual_table as continual_table,
    kept_all as kept_all,
    pack_continual as pack_continual,
    points as points,
    run_continual_cell as run_continual_cell,
    score_matrix as score_matrix,
)
from .described_study import (
    CELLS as CELLS,
    DESCRIBED_WAYS as DESCRIBED_WAYS,
    DescribedCell as DescribedCell,
    ROWS as ROWS,
    against_description as against_description,
    described_cells as described_cells,
    described_picture as described_picture,
    described_records as described_records,
    described_sentences as described_sentences,
    described_table as described_table,
    pack_described as pack_described,
    paired_scores as paired_scores,
    run_described_cell as run_described_cell,
    scores_of_ways as scores_of_ways,
    world_name as world_name,
)
from .few_shot_study import (
    band as band,
    cell as cell,
    compare_sources as compare_sources,
    find_source as find_source,
    line_style as line_style,
    neighbours_table as neighbours_table,
    over_targets as over_targets,
    pack_fits as pack_fits,
    rates_of_run as rates_of_run,
    read_numbers as read_numbers,
    read_studies as read_studies,
    shot_curves as shot_curves,
    shot_table as shot_table,
    shots_in_paper as shots_in_paper,
    study as study,
    study_points as study_points,
    unpack_fits as unpack_fits,
)
from .known_experiments import (
    Experiment as Experiment,
    SCALES as SCALES,
    STAND_INS as STAND_INS,
    Scale as Scale,
    all_experiments as all_experiments,
    estimate as estimate,
    experiment as experiment,
    experiment_folder as experiment_folder,
    jobs_of as jobs_of,
    later_tasks as later_tasks,
)
from .many_study import (
    MANY_CONTENDERS as MANY_CONTENDERS,
    MANY_SIZES as MANY_SIZES,
    ManyCell as ManyCell,
    WAYS as WAYS,
    ahead_table as ahead_table,
    build_cell as build_cell,
    combination as combination,
    combination_table as combination_table,
    contender_options as contender_options,
    fitted_reduction as fitted_reduction,
    many_picture as many_picture,
    many_records as many_records,
    many_table as many_table,
    pack_many as pack_many,
    probe_factors as probe_factors,
    probe_table as probe_table,
    run_cell as run_cell,
    run_cell_apart as run_cell_apart,
)
from .measured import (
    Choice as Choice,
    Measured as Measured,
    NANO_PREFIX as NANO_PREFIX,
    all_measured as all_measured,
    choose as choose,
    measure_more as measure_more,
    select as select,
    unite as unite,
)
from .paper_comparison import (
    reported_row as reported_row,
    rows_with_runs as rows_with_runs,
    scores_beside_paper as scores_beside_paper,
    shared_runs as shared_runs,
)
from .paper_studies import (
    STUDIES as STUDIES,
    grid_extremes as grid_extremes,
    make_run as make_run,
    make_sizes as make_sizes,
    make_variants as make_variants,
    read_facts as read_facts,
    said as said,
    size_curves as size_curves,
    size_table as size_table,
    study_plot as study_plot,
    study_table as study_table,
    train_each as train_each,
    variants_of as variants_of,
)
from .reproduce import (
    experiment_table as experiment_table,
    pack_experiments as pack_experiments,
    reproduce_command as reproduce_command,
    shipped_path as shipped_path,
    source_of as source_of,
)
from .runs import (
    Picked as Picked,
    better as better,
    compare as compare,
    compare_methods as compare_methods,
    cost_of_run as cost_of_run,
    curves as curves,
    find_runs as find_runs,
    finished_runs as finished_runs,
    pick as pick,
    run_folders as run_folders,
)
from .shipped_results import (
    baseline_means as baseline_means,
    better_page as better_page,
    decoder_results as decoder_results,
    few_shot_page as few_shot_page,
    goals_page as goals_page,
    map_table as map_table,
    markdown as markdown,
    method_table as method_table,
    nano_fits as nano_fits,
    real_fits as real_fits,
    real_page as real_page,
    real_results as real_results,
    result_name as result_name,
    score_picture as score_picture,
    score_table as score_table,
    setup_page as setup_page,
    shipped_benchmarks as shipped_benchmarks,
    steps_page as steps_page,
    targets_page as targets_page,
    write_result as write_result,
)
from .side_by_side import (
    cell_model as cell_model,
    factor_map as factor_map,
    first_run_figures as first_run_figures,
    held_out_answers as held_out_answers,
    learn_combination as learn_combination,
    learning_curves as learning_curves,
    losses_of as losses_of,
    save_page as save_page,
    task_plane as task_plane,
    task_planes as task_planes,
    train_side_by_side as train_side_by_side,
    write_record as write_record,
)
from .sweep import (
    BACKENDS as BACKENDS,
    Cell as Cell,
    find_workbook as find_workbook,
    grid_cells as grid_cells,
    is_due as is_due,
    run_cells as run_cells,
    start_ray as start_ray,
    sweep_command as sweep_command,
)
from .tune import (
    Budget as Budget,
    Trial as Trial,
    Tuned as Tuned,
    ship_tuning as ship_tuning,
    trial_settings as trial_settings,
    tune_picture as tune_picture,
    tuning_table as tuning_table,
)
from .workbooks import (
    RunPlan as RunPlan,
    injected_names as injected_names,
    plan_run as plan_run,
    read_options_text as read_options_text,
    read_task_names as read_task_names,
)
