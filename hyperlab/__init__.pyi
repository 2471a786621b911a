# The public names of hyperlab, by the room they live in.
from .adapters import Gain as Gain, Parallel as Parallel, Serial as Serial
from .generators import Condition as Condition
from .methods.method import (
    available_methods as available_methods,
    get_method as get_method,
    register_method as register_method,
)
from .model import AdaptedModel as AdaptedModel, adapt as adapt, load as load
from .sites import Site as Site, SiteMap as SiteMap, attach as attach
from .cost import Cost as Cost, cost as cost, parameter_table as parameter_table
from .papers import paper_table as paper_table
