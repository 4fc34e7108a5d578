"""The index of a project: which GUID is which asset, what refers to what, and what is wrong with either.

``folder.py`` reads one folder, ``cache.py`` keeps what was read outside of the project, ``project.py`` puts
the folders together; ``guids.py`` looks at GUIDs alone, ``contents.py`` at manifests, ``graph.py`` and
``picture.py`` follow references around one asset. Must never write into a project, parse what it can scan,
or follow a link.
"""

from resources.unity.index.cache import IndexCache
from resources.unity.index.guids import IMPORTER, patterned, read_guid
from resources.unity.index.project import ProjectIndex, Use, index_project

__all__ = ["IMPORTER", "IndexCache", "ProjectIndex", "Use", "index_project", "patterned", "read_guid"]
