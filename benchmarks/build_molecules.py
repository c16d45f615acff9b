"""How fast SMILES become a store of bags: Tox21's molecules, each written in random ways, none twice.

    python benchmarks/build_molecules.py --n 100000 --n-jobs 2

prints molecules a second of wall clock and of each core's own time, how busy the machine was, and the largest memory
of the parent and of a worker; the file of SMILES is made before the clock starts.
"""

import argparse
import json
import os
import resource
import tempfile
import time
import warnings
from pathlib import Path

from rdkit import Chem, rdBase

from cfmgml.builders.molecules.builder import MoleculeBuilder
from cfmgml.builders.molecules.files import MoleculeFiles
from cfmgml.common.tables import read_table
from cfmgml.data.builder import FileInput
from cfmgml.datasets._locate import find_data
from cfmgml.stores import BagStore, build_store


def write_smiles(file, n):
    """Other atoms first, other ways round: no two lines are the same."""
    table = read_table(find_data("tox21", markers=["tox21.csv"]) / "tox21.csv")
    with rdBase.BlockLogs():
        mols = [mol for row in table if (mol := Chem.MolFromSmiles(row["smiles"])) is not None]
    rdBase.SeedRandomNumberGenerator(0)
    mols, seen = [mol for mol in mols if mol.GetNumAtoms() > 7], set()
    with file.open("w") as out:
        while len(seen) < n:
            for mol in mols:
                for _ in range(3):
                    smiles = Chem.MolToSmiles(mol, doRandom=True)
                    if smiles not in seen and len(seen) < n:
                        seen.add(smiles)
                        out.write(f"{smiles}\n")
                        break


def cpu_seconds():
    """Of this process and of the workers, which have ended with the build."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--n-jobs", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "many.smi"
        write_smiles(file, given.n)
        before, cpu_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, cpu_seconds()
        start = time.perf_counter()
        stream = MoleculeBuilder().stream(FileInput([file], options=MoleculeFiles(n_jobs=given.n_jobs)))
        build_store(stream, Path(folder) / "store")
        seconds = time.perf_counter() - start
        cpu = cpu_seconds() - cpu_before
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        store = BagStore(Path(folder) / "store")
        row = {"molecules": given.n, "bags": store.n_bags, "graphs": store.n_graphs, "n_jobs": given.n_jobs}
        row |= {"seconds": round(seconds, 1), "a_second": round(given.n / seconds), "load": os.getloadavg()[0]}
        row |= {"cpu_seconds": round(cpu, 1), "a_cpu_second": round(given.n / cpu)}
        workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        row |= {"parent_MB_before": before // 1024, "parent_MB": used // 1024, "worker_MB": workers // 1024}
        print(json.dumps(row))


if __name__ == "__main__":
    main()
