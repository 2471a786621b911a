# Written by tools/make_stubs.py from what the modules export.
from . import grammar as grammar
from . import many as many
from . import pretraining as pretraining
from . import pretraining_texts as pretraining_texts
from . import settings as settings
from . import tasks as tasks
from . import toy as toy
from .grammar import (
    BAD as BAD,
    Draw as Draw,
    Event as Event,
    FILM_SUBJECTS as FILM_SUBJECTS,
    FOOD_SUBJECTS as FOOD_SUBJECTS,
    GOOD as GOOD,
    GOODS_VERBS as GOODS_VERBS,
    JUDGEMENTS as JUDGEMENTS,
    KIND_OF as KIND_OF,
    NOUNS as NOUNS,
    NOUN_KINDS as NOUN_KINDS,
    Opinion as Opinion,
    PLACES as PLACES,
    QUALITIES as QUALITIES,
    REVIEW_SUBJECTS as REVIEW_SUBJECTS,
    SCIENCE_VERBS as SCIENCE_VERBS,
    SOCIAL_VERBS as SOCIAL_VERBS,
    SUBJECT_WORDS as SUBJECT_WORDS,
    THINGS as THINGS,
    Thing as Thing,
    VERBS as VERBS,
    an_event as an_event,
    an_opinion as an_opinion,
    ask as ask,
    change as change,
    event_in as event_in,
    generalise as generalise,
    having as having,
    near_miss as near_miss,
    part_of as part_of,
    participle as participle,
    past as past,
    plural as plural,
    say as say,
    say_contrast as say_contrast,
    say_opinion as say_opinion,
    say_thing as say_thing,
    vocabulary as vocabulary,
)
from .many import (
    FACTORS as FACTORS,
    MANY as MANY,
    MANY_HELDOUT as MANY_HELDOUT,
    factors_of as factors_of,
    meanings as meanings,
    views as views,
)
from .pretraining import (
    FIRST_PART as FIRST_PART,
    PRETRAINING_PARTS as PRETRAINING_PARTS,
    Pretraining as Pretraining,
    is_finished as is_finished,
    nano_model as nano_model,
    pretrain as pretrain,
    write_card as write_card,
)
from .pretraining_texts import (
    MASKS as MASKS,
    SENTINELS as SENTINELS,
    Text as Text,
    Words as Words,
    agreement as agreement,
    all_tokens as all_tokens,
    an_example as an_example,
    correction as correction,
    echo as echo,
    nano_tokenizer as nano_tokenizer,
    some_text as some_text,
)
from .settings import (
    OPTIONS as OPTIONS,
    nano_adapted as nano_adapted,
    nano_recipe as nano_recipe,
    nano_run as nano_run,
    setting_of as setting_of,
)
from .tasks import (
    HELD_OUT_SIZES as HELD_OUT_SIZES,
    OPEN as OPEN,
    ROW_MAKERS as ROW_MAKERS,
    VOUCHING as VOUCHING,
    WORLD_GROUPS as WORLD_GROUPS,
    WORLD_TASKS as WORLD_TASKS,
    inference as inference,
    nano_data as nano_data,
    paws as paws,
    similarity as similarity,
    some_event as some_event,
    texts_of as texts_of,
)
from .toy import (
    FILLER as FILLER,
    PETS as PETS,
    toy_backbone as toy_backbone,
    toy_tasks as toy_tasks,
    toy_tokenizer as toy_tokenizer,
)
