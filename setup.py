"""Packaging for hyperlab. Every fact comes from settings.ini, the file nbdev reads too."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

here = Path(__file__).parent
config = ConfigParser(delimiters=["="])
config.read(here / "settings.ini", encoding="utf-8")
settings = config["DEFAULT"]


class BuildWithNotebooks(build_py):
    """Puts workbooks, chapters and their pictures from nbs/ into the package; an editable install reads nbs/ itself."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for source in sorted((here / "nbs").rglob("*")):
                inside = source.relative_to(here / "nbs")
                if source.suffix in (".ipynb", ".svg", ".png") and not any(p == "runs" or p[0] in "._" for p in inside.parts):
                    target = Path(self.build_lib, "hyperlab", "notebooks", inside)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    self.copy_file(str(source), str(target))


NAMES = ("dev", "docs", "serve", "ray", "peers", "exchange", "describe")
extras = {extra: settings[f"{extra}_requirements"].split() for extra in NAMES}
extras["dev"] += extras["docs"]

setup(
    name=settings["lib_name"],
    version=settings["version"],
    description=settings["description"],
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=settings["author"],
    license="Apache-2.0",
    keywords=settings["keywords"],
    packages=find_packages(include=["hyperlab", "hyperlab.*"]),
    package_data={
        "hyperlab": ["*.pyi", "*/*.pyi", "py.typed", "assets/*/*/*", "assets/*/run/model/*", "assets/nano/results/reproduce/*"],
        "hyperlab.widgets": ["front/*", "front/jupyter/voila/templates/hyperlab/*"],
    },
    python_requires=f">={settings['min_python']}",
    install_requires=settings["requirements"].split(),
    extras_require=extras,
    cmdclass={"build_py": BuildWithNotebooks},
    entry_points={"console_scripts": ["hyperlab = hyperlab.command:main"]},
    zip_safe=False,
)
