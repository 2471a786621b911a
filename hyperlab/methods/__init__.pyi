# Written by tools/make_stubs.py from what the modules export.
from . import bitfit as bitfit
from . import bottleneck as bottleneck
from . import compacter as compacter
from . import full as full
from . import hyperdecoder as hyperdecoder
from . import hyperformer as hyperformer
from . import hypergrid as hypergrid
from . import intrinsic_said as intrinsic_said
from . import lora as lora
from . import polytropon as polytropon
from . import prompt_tuning as prompt_tuning
from .bitfit import (
    BitFit as BitFit,
)
from .bottleneck import (
    AdapterDagger as AdapterDagger,
    AdapterDrop as AdapterDrop,
    AdapterShared as AdapterShared,
    BottleneckOptions as BottleneckOptions,
    HoulsbyAdapter as HoulsbyAdapter,
    Pfeiffer as Pfeiffer,
    init_bottleneck as init_bottleneck,
)
from .compacter import (
    AdapterLowRank as AdapterLowRank,
    Compacter as Compacter,
    CompacterPlusPlus as CompacterPlusPlus,
    FACTORED_FROM as FACTORED_FROM,
    Hypercomplex as Hypercomplex,
    PHMAdapter as PHMAdapter,
    factored_product as factored_product,
    kronecker_sum as kronecker_sum,
    prefers_factors as prefers_factors,
)
from .full import (
    Full as Full,
)
from .hyperdecoder import (
    Hyperdecoder as Hyperdecoder,
    ParallelAdapter as ParallelAdapter,
    TaskHypernet as TaskHypernet,
)
from .hyperformer import (
    HyperFormer as HyperFormer,
    HyperFormerPlusPlus as HyperFormerPlusPlus,
    HyperFormerReleased as HyperFormerReleased,
    HyperFormerStable as HyperFormerStable,
    HyperRule as HyperRule,
    added as added,
    gated as gated,
)
from .hypergrid import (
    HyperGrid as HyperGrid,
    LOCAL as LOCAL,
    factor as factor,
    grid_linear as grid_linear,
    paper_count as paper_count,
    pool as pool,
    spread as spread,
)
from .intrinsic_said import (
    IntrinsicSAID as IntrinsicSAID,
    RADIX as RADIX,
    walsh_hadamard as walsh_hadamard,
)
from .lora import (
    HyperLoRA as HyperLoRA,
    PlainLoRA as PlainLoRA,
    SharedLoRA as SharedLoRA,
)
from .polytropon import (
    Polytropon as Polytropon,
)
from .prompt_tuning import (
    Prompt as Prompt,
    PromptTuning as PromptTuning,
)
