# Written by tools/make_stubs.py from what the modules export.
from . import adapter_inspector as adapter_inspector
from . import dashboard as dashboard
from . import embedding_map as embedding_map
from . import methods_panel as methods_panel
from . import panel as panel
from . import run_board as run_board
from . import server as server
from . import task_mixer as task_mixer
from . import task_writer as task_writer
from .adapter_inspector import (
    AdapterInspector as AdapterInspector,
)
from .dashboard import (
    Dashboard as Dashboard,
)
from .embedding_map import (
    EmbeddingMap as EmbeddingMap,
)
from .methods_panel import (
    MethodsPanel as MethodsPanel,
)
from .panel import (
    Panel as Panel,
    Steps as Steps,
    apart as apart,
    front as front,
    no_progress_bars as no_progress_bars,
    open_model as open_model,
    page as page,
    task_facts as task_facts,
)
from .run_board import (
    RunBoard as RunBoard,
)
from .server import (
    DashboardServer as DashboardServer,
)
from .task_mixer import (
    TaskMixer as TaskMixer,
    matrix_rows as matrix_rows,
)
from .task_writer import (
    TaskWriter as TaskWriter,
)
