"""Packaging for hyperlab. Every fact comes from settings.ini, the file nbdev reads too."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
config = ConfigParser(delimiters=["="])
config.read(here / "settings.ini", encoding="utf-8")
settings = config["DEFAULT"]

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
        "hyperlab": ["*.pyi", "*/*.pyi", "py.typed", "assets/*/*/*", "assets/nano/run/model/*", "assets/nano/results/reproduce/*"],
        "hyperlab.widgets": ["front/*", "front/jupyter/voila/templates/hyperlab/*"],
    },
    python_requires=f">={settings['min_python']}",
    install_requires=settings["requirements"].split(),
    extras_require={extra: settings[f"{extra}_requirements"].split() for extra in ("dev", "serve", "ray", "peers", "exchange", "describe")},
    zip_safe=False,
)
