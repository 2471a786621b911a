# Written by tools/make_stubs.py from what the modules export.
from . import claims as claims
from . import compacter as compacter
from . import hyperdecoders as hyperdecoders
from . import hyperformer as hyperformer
from . import hypergrid as hypergrid
from . import parameters as parameters
from . import tables as tables
from .claims import (
    COUNTED as COUNTED,
    Claim as Claim,
    MEASURES as MEASURES,
    Side as Side,
    claimed_experiments as claimed_experiments,
    counted_effects as counted_effects,
    differences as differences,
    known_claims as known_claims,
    printed_effects as printed_effects,
    small_tasks as small_tasks,
)
from .compacter import (
    COMPARED_METHODS as COMPARED_METHODS,
    EFFICIENCY as EFFICIENCY,
    SUPERGLUE as SUPERGLUE,
    TRAINING as TRAINING,
    recipe_for as recipe_for,
    training_of as training_of,
)
from .parameters import (
    Cost as Cost,
    Count as Count,
    agrees as agrees,
    claimed_counts as claimed_counts,
    cost as cost,
    count_method as count_method,
    count_model as count_model,
    parameter_table as parameter_table,
    reported_figures as reported_figures,
)
from .tables import (
    AVERAGES as AVERAGES,
    GLUE as GLUE,
    GLUE_METRICS as GLUE_METRICS,
    PAPERS as PAPERS,
    PaperRow as PaperRow,
    PaperTable as PaperTable,
    TABLES as TABLES,
    add_table as add_table,
    average_table as average_table,
    averaging_rules as averaging_rules,
    cell_text as cell_text,
    cells as cells,
    glue_scores as glue_scores,
    known_tables as known_tables,
    mean_over_metrics as mean_over_metrics,
    paper_table as paper_table,
    same_shape as same_shape,
    spreads as spreads,
    table_frame as table_frame,
    within_rounding as within_rounding,
)
