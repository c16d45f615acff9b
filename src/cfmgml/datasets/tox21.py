"""Tox21: molecules as bags of fragments, with twelve assays; a third of the molecules lack some."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Literal

from cfmgml.builders.molecules.builder import MoleculeBuilder
from cfmgml.builders.molecules.files import MoleculeFiles
from cfmgml.common.cache import cached
from cfmgml.common.digests import files_digest
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput, library_versions
from cfmgml.datasets._locate import find_data

FILE = "tox21.csv"
ASSAYS = (
    "NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD", "NR-PPAR-gamma", "SR-ARE", "SR-ATAD5",
    "SR-HSE", "SR-MMP", "SR-p53",
)  # fmt: skip
INFO = {
    "name": "Tox21",
    "description": "Molecules (bags) by fragments (graphs), with the outcomes of twelve assays of toxicity.",
    "source": "Tox21 Data Challenge 2014 (US agencies); repository OpenDrugAI/AttentiveFP.",
    "licence": "Public domain.",
}


def load_tox21(
    path: str | Path | None = None,
    *,
    cache_dir: str | Path | Literal[False] | None = None,
    n_jobs: int | None = None,
    **options: object,
) -> BagDataset:
    """7,823 molecules by their fragments, with twelve assays; what was not measured is unknown (17 %).

    Eight molecules of the file have an aluminium with six bonds, which RDKit refuses: ``info["skipped"]`` names them.

    Parameters
    ----------
    path
        The folder ``tox21``, or the one that holds it; by default what ``CFMGML_DATA`` names.
    cache_dir
        Where built bags are kept; None for the default folder, False to keep none.
    n_jobs
        Worker processes; None for none.
    **options
        Of how graphs are made, as `bags_from_molecules` has them: ``fragments``, ``single_graph``, ``whole``,
        ``atoms``, ``bonds``, ``drop_salts``, ``gasteiger``, ``conformers``, ``max_atoms``.

    Returns
    -------
    Bags named by SMILES, so that `cfmgml.plots.plot_bag` can draw the molecule.

    Examples
    --------
    >>> load_tox21(fragments="brics").label_names[:3].tolist()
    ['NR-AR', 'NR-AR-LBD', 'NR-AhR']
    """
    file = find_data("tox21", path, markers=[FILE], contents=FILE) / FILE
    known = [field.name for field in fields(MoleculeBuilder)]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; options are {', '.join(known)}.")
    builder = MoleculeBuilder(**options)  # type: ignore[arg-type]

    def build() -> BagDataset:
        reading = MoleculeFiles(smiles="smiles", name="smiles", n_jobs=n_jobs or 1)
        bags = builder.from_files(FileInput([file], ",".join(ASSAYS), options=reading))
        return replace(bags, info={**bags.info, **INFO})

    key = {"content": files_digest([file]), "builder": builder.told(), "versions": library_versions(builder)}
    return cached(BagDataset, "tox21.bags", key, build, cache_dir)
