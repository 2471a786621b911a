# The public names of hyperlab, by the room they live in.
from .sites import Site as Site
