# Written by tools/make_stubs.py from what the modules export.
from . import batches as batches
from . import benchmarks as benchmarks
from . import descriptions as descriptions
from . import example_lines as example_lines
from . import metrics as metrics
from . import prompts as prompts
from . import splits as splits
from . import task as task
from . import task_features as task_features
from . import tokens as tokens
from .batches import (
    Batch as Batch,
    BatchPlan as BatchPlan,
    TRAIN_SIZES as TRAIN_SIZES,
    TrainingBatches as TrainingBatches,
    drawn_before as drawn_before,
    evaluation_batches as evaluation_batches,
    in_order as in_order,
    padding_cost as padding_cost,
    permuted as permuted,
    sampling_probabilities as sampling_probabilities,
    visited as visited,
)
from .benchmarks import (
    ENTRIES as ENTRIES,
    GROUPS as GROUPS,
    as_in_paper as as_in_paper,
    register_task as register_task,
    task_from as task_from,
    task_names as task_names,
    tasks as tasks,
)
from .example_lines import (
    read_file as read_file,
    read_lines as read_lines,
    written_lines as written_lines,
)
from .metrics import (
    METRICS as METRICS,
    accuracy as accuracy,
    average_metrics as average_metrics,
    average_tasks as average_tasks,
    f1 as f1,
    macro_f1 as macro_f1,
    matthews as matthews,
    metric as metric,
    pearson as pearson,
    rouge2 as rouge2,
    spearman as spearman,
    squad_em as squad_em,
    squad_f1 as squad_f1,
)
from .prompts import (
    Accepted as Accepted,
    Answer as Answer,
    CHOSEN as CHOSEN,
    Classes as Classes,
    FreeText as FreeText,
    PROTOCOLS as PROTOCOLS,
    Row as Row,
    Score as Score,
    Style as Style,
    Template as Template,
    check_labels as check_labels,
    check_protocol as check_protocol,
    style as style,
)
from .splits import (
    HALVED_TEST as HALVED_TEST,
    HALVED_VALIDATION as HALVED_VALIDATION,
    HELD_OUT as HELD_OUT,
    LeakWarning as LeakWarning,
    MATCHED as MATCHED,
    MissingSplit as MissingSplit,
    OFFICIAL as OFFICIAL,
    Part as Part,
    Rows as Rows,
    SEED as SEED,
    SPLITS as SPLITS,
    SplitLeak as SplitLeak,
    SplitRule as SplitRule,
    TENTHS as TENTHS,
    available_splits as available_splits,
    check_overlaps as check_overlaps,
    content_keys as content_keys,
    fresh_rows as fresh_rows,
    overlaps as overlaps,
    prove_disjoint as prove_disjoint,
    released as released,
    shuffled as shuffled,
    split_rows as split_rows,
)
from .task import (
    READERS as READERS,
    Task as Task,
    explain_bad_files as explain_bad_files,
    folder_name as folder_name,
    provenance as provenance,
    score as score,
    split_files as split_files,
    truth_of as truth_of,
)
from .task_features import (
    SentenceEncoder as SentenceEncoder,
    describe_by_examples as describe_by_examples,
    describe_task as describe_task,
    describe_tasks as describe_tasks,
)
from .tokens import (
    TaskSplit as TaskSplit,
    best_answers as best_answers,
    cache_root as cache_root,
    chunk_rows as chunk_rows,
    load_splits as load_splits,
    load_task_split as load_task_split,
    token_features as token_features,
    token_ids as token_ids,
    tokenize as tokenize,
    tokenize_task as tokenize_task,
    tokenizer_fingerprint as tokenizer_fingerprint,
    truncation as truncation,
)
