# Written by tools/make_stubs.py from what the modules export.
from . import benchmarks as benchmarks
from . import contenders as contenders
from . import lora as lora
from . import measuring as measuring
from . import planning as planning
from .benchmarks import (
    bench_data as bench_data,
    bench_generate as bench_generate,
    bench_grid as bench_grid,
    bench_import as bench_import,
    bench_memory as bench_memory,
    bench_scale as bench_scale,
    bench_step as bench_step,
)
from .contenders import (
    CACHED as CACHED,
    Contender as Contender,
    FLOOR as FLOOR,
    FULL as FULL,
    TASKS as TASKS,
    Workload as Workload,
    adapted as adapted,
    beside_paper as beside_paper,
    compare_costs as compare_costs,
    make_steps as make_steps,
    measure_step_memory as measure_step_memory,
    only_norms as only_norms,
    peers as peers,
    plain_backbone as plain_backbone,
    table_3 as table_3,
    trade_off as trade_off,
    training_step as training_step,
    without_dropout as without_dropout,
)
from .lora import (
    bench_lora as bench_lora,
)
from .measuring import (
    BenchResult as BenchResult,
    BenchRow as BenchRow,
    Goal as Goal,
    StepMemory as StepMemory,
    adamw_step as adamw_step,
    bench_figure as bench_figure,
    kept_bytes as kept_bytes,
    memory_rows as memory_rows,
    pooled as pooled,
    read_goals as read_goals,
    steady_memory as steady_memory,
    step_memory as step_memory,
    time_interleaved as time_interleaved,
    timed_rows as timed_rows,
    total_bytes as total_bytes,
    with_memory as with_memory,
)
from .planning import (
    Forecast as Forecast,
    Held as Held,
    count_tasks as count_tasks,
    measure_speed as measure_speed,
    plan as plan,
    plan_table as plan_table,
    trace_step as trace_step,
)
