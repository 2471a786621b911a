# Written by tools/make_stubs.py from what the modules export.
from . import adapter_weights as adapter_weights
from . import figure_axes as figure_axes
from . import figure_marks as figure_marks
from . import figure_sides as figure_sides
from . import figures as figures
from . import house_style as house_style
from . import interpolation as interpolation
from . import maps as maps
from . import palette as palette
from . import patching as patching
from . import probes as probes
from . import similarity as similarity
from . import static_figures as static_figures
from . import statistics as statistics
from . import svg as svg
from . import task_vectors as task_vectors
from .adapter_weights import (
    dead_units as dead_units,
    effective_rank as effective_rank,
    hypernetwork_rank as hypernetwork_rank,
    reacting_units as reacting_units,
    singular_values as singular_values,
    site_norm as site_norm,
    site_norms as site_norms,
    token_units as token_units,
    unit_activations as unit_activations,
    weights_of as weights_of,
)
from .figure_axes import (
    Axis as Axis,
    AxisScale as AxisScale,
    Reach as Reach,
    font_of as font_of,
    ranged_axis as ranged_axis,
    scale_of as scale_of,
    short_number as short_number,
    ticks_of as ticks_of,
    title_text as title_text,
    whole_figure as whole_figure,
)
from .figure_marks import (
    Block as Block,
    blocks_of as blocks_of,
    box_place as box_place,
    draw_bars as draw_bars,
    draw_box as draw_box,
    draw_heat as draw_heat,
    draw_points as draw_points,
    heat_range as heat_range,
    line_look as line_look,
    line_path as line_path,
    mode_of as mode_of,
    reaches_of as reaches_of,
    shades_of as shades_of,
    trace_colour as trace_colour,
)
from .figure_sides import (
    Frame as Frame,
    Legend as Legend,
    bar_width as bar_width,
    draw_colour_bar as draw_colour_bar,
    draw_legend as draw_legend,
    draw_note as draw_note,
    draw_shape as draw_shape,
    extra_reaches as extra_reaches,
    inside_panel as inside_panel,
    legend_of as legend_of,
)
from .figures import (
    explained_figure as explained_figure,
    label_sides as label_sides,
    labels_figure as labels_figure,
    lengths_figure as lengths_figure,
    map_figure as map_figure,
    norms_figure as norms_figure,
    overlaps_figure as overlaps_figure,
    padding_figure as padding_figure,
    path_figure as path_figure,
    sampling_figure as sampling_figure,
    similarity_figure as similarity_figure,
    task_map as task_map,
    tree_figure as tree_figure,
)
from .house_style import (
    styled as styled,
)
from .interpolation import (
    Example as Example,
    PathPoint as PathPoint,
    answer as answer,
    answer_likelihoods as answer_likelihoods,
    at_hand as at_hand,
    example_rows as example_rows,
    example_text as example_text,
    known_answers as known_answers,
    known_scales as known_scales,
    mixes_tasks as mixes_tasks,
    mixture_distance as mixture_distance,
    normalised as normalised,
    path_scores as path_scores,
    path_steps as path_steps,
    sample_split as sample_split,
)
from .maps import (
    Drawing as Drawing,
    FEW as FEW,
    LAYOUTS as LAYOUTS,
    MIXTURE_SHAPE as MIXTURE_SHAPE,
    Wanted as Wanted,
    chosen_sites as chosen_sites,
    draw_instances as draw_instances,
    draw_tasks as draw_tasks,
    place_mixture as place_mixture,
    wanted_inputs as wanted_inputs,
    wanted_tasks as wanted_tasks,
)
from .palette import (
    Colouring as Colouring,
    OKABE_ITO as OKABE_ITO,
    colouring as colouring,
    family_colour as family_colour,
    family_shape as family_shape,
)
from .patching import (
    patch_effects as patch_effects,
    switched_off as switched_off,
    unit_count as unit_count,
)
from .probes import (
    Instances as Instances,
    Probe as Probe,
    between_labels as between_labels,
    fit_probe as fit_probe,
    instance_embeddings as instance_embeddings,
    instance_probes as instance_probes,
    instance_rows as instance_rows,
    instances as instances,
    linear_probe as linear_probe,
    load_instances as load_instances,
    save_instances as save_instances,
)
from .similarity import (
    Clusters as Clusters,
    Purity as Purity,
    cka as cka,
    cka_by_layer as cka_by_layer,
    cluster_tasks as cluster_tasks,
    cosines as cosines,
    family_purity as family_purity,
    nearest_points as nearest_points,
    nearest_tasks as nearest_tasks,
    similarity_by_site as similarity_by_site,
)
from .static_figures import (
    static_svg as static_svg,
)
from .statistics import (
    Comparison as Comparison,
    Question as Question,
    compare_answers as compare_answers,
    compare_predictions as compare_predictions,
    compare_scores as compare_scores,
    comparison_table as comparison_table,
    exchange as exchange,
    flip_examples as flip_examples,
    holm as holm,
    sign_flip as sign_flip,
    slow_scorer as slow_scorer,
    units as units,
    weighted_metric as weighted_metric,
)
from .svg import (
    Spec as Spec,
    element as element,
    marker_look as marker_look,
    marker_symbol as marker_symbol,
    pixel as pixel,
    text_lines as text_lines,
    text_size as text_size,
    wrapped as wrapped,
    write_text as write_text,
)
from .task_vectors import (
    EVERYWHERE as EVERYWHERE,
    PROJECTIONS as PROJECTIONS,
    Points as Points,
    Projection as Projection,
    VIEWS as VIEWS,
    Where as Where,
    chance_explained as chance_explained,
    families as families,
    position_spread as position_spread,
    project as project,
    registered as registered,
    related_by_chance as related_by_chance,
    representations as representations,
    run_history as run_history,
    task_points as task_points,
    task_view as task_view,
    trajectories as trajectories,
    vector_points as vector_points,
)
