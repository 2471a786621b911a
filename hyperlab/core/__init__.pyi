# Written by tools/make_stubs.py from what the modules export.
from . import adapters as adapters
from . import backbones as backbones
from . import checkpoint as checkpoint
from . import errors as errors
from . import files as files
from . import forward as forward
from . import functional as functional
from . import generators as generators
from . import hooks as hooks
from . import inspection as inspection
from . import lean_autograd as lean_autograd
from . import method as method
from . import model as model
from . import old_names as old_names
from . import progress as progress
from . import sites as sites
from .adapters import (
    ADAPTERS as ADAPTERS,
    Adapter as Adapter,
    Gain as Gain,
    LoRA as LoRA,
    Parallel as Parallel,
    Serial as Serial,
    SiteContext as SiteContext,
    adapter_from_dict as adapter_from_dict,
)
from .backbones import (
    BACKBONE_SHAPES as BACKBONE_SHAPES,
    RANDOM_STREAMS as RANDOM_STREAMS,
    Source as Source,
    fingerprint as fingerprint,
    is_shared as is_shared,
    load_backbone as load_backbone,
    load_tokenizer as load_tokenizer,
    meta_backbone as meta_backbone,
    own_share as own_share,
    parameter_count as parameter_count,
    place_of as place_of,
    put_parameters as put_parameters,
    read_config as read_config,
    shape_of as shape_of,
    site_widths as site_widths,
    whole as whole,
    whole_parameters as whole_parameters,
)
from .checkpoint import (
    CONFIG as CONFIG,
    check_fit as check_fit,
    check_kinds as check_kinds,
    check_weights as check_weights,
    describe_model as describe_model,
    fill as fill,
    find_checkpoint as find_checkpoint,
    is_shipped as is_shipped,
    planned_weights as planned_weights,
    read_checkpoint as read_checkpoint,
    read_description as read_description,
    write_checkpoint as write_checkpoint,
)
from .errors import (
    HubError as HubError,
    check_names as check_names,
    did_you_mean as did_you_mean,
    explain_hub_errors as explain_hub_errors,
    unknown as unknown,
)
from .files import (
    asset as asset,
    fault_of as fault_of,
    is_bare as is_bare,
    notebooks_folder as notebooks_folder,
    now as now,
    publish as publish,
    read_json as read_json,
    set_aside as set_aside,
    sync_folder as sync_folder,
    whole_folder as whole_folder,
    write_json as write_json,
    write_manifest as write_manifest,
)
from .forward import (
    EncoderCache as EncoderCache,
    IGNORED as IGNORED,
    as_prompt as as_prompt,
    batch_size_of as batch_size_of,
    being_trained as being_trained,
    call_context as call_context,
    check_not_training as check_not_training,
    encode_plainly as encode_plainly,
    encoder_changes as encoder_changes,
    exclusive as exclusive,
    generate_texts as generate_texts,
    generate_tokens as generate_tokens,
    label_positions as label_positions,
    masked_mean as masked_mean,
    padded_left as padded_left,
    read_input as read_input,
    read_tasks as read_tasks,
    run_encoder as run_encoder,
    run_forward as run_forward,
    samples as samples,
    shifted_parameters as shifted_parameters,
    streams_of as streams_of,
    text_positions as text_positions,
    tokenize_texts as tokenize_texts,
)
from .functional import (
    ACTIVATIONS as ACTIVATIONS,
    AdapterWeights as AdapterWeights,
    affine as affine,
    bottleneck as bottleneck,
    bottleneck_shapes as bottleneck_shapes,
    by_example as by_example,
    chosen_sets as chosen_sets,
    conditional_layer_norm as conditional_layer_norm,
    examples_in as examples_in,
)
from .generators import (
    Condition as Condition,
    DescribedEmbedding as DescribedEmbedding,
    Heads as Heads,
    Hypernetwork as Hypernetwork,
    INIT_STD as INIT_STD,
    Projector as Projector,
    Table as Table,
    TaskEmbedding as TaskEmbedding,
    TaskFeatures as TaskFeatures,
    TaskLike as TaskLike,
    TaskVector as TaskVector,
    distribute as distribute,
    mixture_row as mixture_row,
    read_condition as read_condition,
    repeated as repeated,
)
from .hooks import (
    ADAPTED as ADAPTED,
    ADAPTING as ADAPTING,
    ActiveWeights as ActiveWeights,
    CallContext as CallContext,
    Observer as Observer,
    SiteWeights as SiteWeights,
    TrainedParameters as TrainedParameters,
    claim as claim,
    release as release,
    trained_names as trained_names,
)
from .inspection import (
    Encoding as Encoding,
    check_task_vector as check_task_vector,
    describe_again as describe_again,
    described_parts as described_parts,
    encode_inputs as encode_inputs,
    learn_own_vectors as learn_own_vectors,
    merged_parameters as merged_parameters,
    moves_backbone as moves_backbone,
    observed as observed,
    own_vectors as own_vectors,
    projected_embeddings as projected_embeddings,
    put_own_vectors as put_own_vectors,
    task_embeddings as task_embeddings,
    task_owned_parameters as task_owned_parameters,
    weights_by_site as weights_by_site,
    weights_fixed as weights_fixed,
)
from .lean_autograd import (
    NDIMS as NDIMS,
    ORDER as ORDER,
    RootMeanSquareNorm as RootMeanSquareNorm,
    autocasting as autocasting,
    centred as centred,
    keep_less_for_backward as keep_less_for_backward,
    keeps_for_backward as keeps_for_backward,
    normalized as normalized,
    residual_bottleneck as residual_bottleneck,
    taken as taken,
)
from .method import (
    AdapterPart as AdapterPart,
    METHODS as METHODS,
    Method as Method,
    Rule as Rule,
    TaskFeatureOptions as TaskFeatureOptions,
    Trains as Trains,
    WeightCache as WeightCache,
    available_methods as available_methods,
    check_described as check_described,
    check_options as check_options,
    describe as describe,
    fill_task_features as fill_task_features,
    fits as fits,
    get_method as get_method,
    given_vectors as given_vectors,
    read_task_features as read_task_features,
    register_method as register_method,
    write_down as write_down,
)
from .model import (
    AdaptedModel as AdaptedModel,
    adapt as adapt,
    load as load,
)
from .old_names import (
    OLD_MODULES as OLD_MODULES,
    OLD_NAMES as OLD_NAMES,
    PACKAGES as PACKAGES,
    find_old_name as find_old_name,
    watch_old_modules as watch_old_modules,
)
from .progress import (
    ProgressLine as ProgressLine,
    lines_of_datasets as lines_of_datasets,
)
from .sites import (
    Attachment as Attachment,
    ForwardOverride as ForwardOverride,
    STACKS as STACKS,
    Site as Site,
    SiteFunction as SiteFunction,
    SiteMap as SiteMap,
    all_sites as all_sites,
    attach as attach,
    check_backbone as check_backbone,
    check_family as check_family,
    family_of as family_of,
    has_encoder as has_encoder,
    layer_count as layer_count,
    projection_places as projection_places,
    select_sites as select_sites,
)
