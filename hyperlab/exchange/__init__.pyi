# Written by tools/make_stubs.py from what the modules export.
from . import approximate as approximate
from . import certificates as certificates
from . import distillation as distillation
from . import formats as formats
from . import from_peft as from_peft
from . import merged as merged
from . import to_adapterhub as to_adapterhub
from . import to_peft as to_peft
from .approximate import (
    fitted_updates as fitted_updates,
)
from .certificates import (
    CERTIFICATE as CERTIFICATE,
    Certificate as Certificate,
    LIMITS as LIMITS,
    Load as Load,
    PRECISIONS as PRECISIONS,
    bare_backbone as bare_backbone,
    compare_logits as compare_logits,
    describe_backbone as describe_backbone,
    export_folder as export_folder,
    has_tokenizer as has_tokenizer,
    library_versions as library_versions,
    make_probe as make_probe,
    write_certificate as write_certificate,
)
from .distillation import (
    distil as distil,
)
from .formats import (
    export_model as export_model,
)
from .from_peft import (
    covering_options as covering_options,
    import_peft as import_peft,
)
from .merged import (
    load_merged as load_merged,
    merged_backbone as merged_backbone,
    write_merged as write_merged,
)
from .to_adapterhub import (
    write_adapterhub as write_adapterhub,
)
from .to_peft import (
    ADAPTER_CONFIG as ADAPTER_CONFIG,
    ADAPTER_WEIGHTS as ADAPTER_WEIGHTS,
    LORA_SCALES as LORA_SCALES,
    PREFIX as PREFIX,
    Update as Update,
    check_only_parts as check_only_parts,
    load_with_peft as load_with_peft,
    lora_updates as lora_updates,
    module_paths as module_paths,
    reason_of as reason_of,
    site_updates as site_updates,
    stored_parts as stored_parts,
    write_updates as write_updates,
)
