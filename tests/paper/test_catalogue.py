"""The paper's data sets, and what is run on them."""

import numpy as np
import pytest

from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.protocol import Protocol, methods_for, not_planned
from cfmgml.paper.catalogue import DATA_SETS, find_data_sets, with_features


def test_names():
    assert [data.key for data in find_data_sets(["msrc_v2-r"])] == ["msrc_v2-rich"]
    with pytest.raises(ValueError, match="no data set 'mnist'; known: msrc_v2-rich"):
        find_data_sets(["mnist"])


def test_the_network_runs_on_one_data_set():
    keys = {data.key: [method.key for method in methods_for(data, None)] for data in find_data_sets(None)}
    assert [key for key, methods in keys.items() if "gin" in methods] == ["msrc_v2-rich"]
    assert [key for key, methods in keys.items() if "context" not in methods] == ["msrc_v2-hellinger"]
    assert keys["msrc_v2-hellinger"] == ["cfmgml", "paper", "misvm", "sgsl-svm", "dummy"]
    assert "hlk" in not_planned(DATA_SETS["msrc_v2-hellinger"])


def test_the_grids_are_the_papers():
    full = Protocol()
    msrc, voc = DATA_SETS["msrc_v2-rich"], DATA_SETS["voc2012-rich"]
    assert METHODS["cfmgml"].settings(full.grid(METHODS["cfmgml"], msrc)) == [{"alpha": 10.0**-k} for k in range(1, 9)]
    assert full.grid(METHODS["m3miml"], msrc)["C"] == tuple(10.0**k for k in range(-2, 7))
    assert full.grid(METHODS["sgsl-svm"], msrc)["C"] == tuple(10.0**k for k in range(1, 8))
    assert len(full.grid(METHODS["m3miml"], voc)["C"]) == 3  # said so on the page
    assert (full.n_inner_run(msrc), full.n_inner_run(voc), Protocol.for_quick().n_inner_run(voc)) == (3, 1, 2)
    model = METHODS["paper"].make(None, 0, alpha=1e-3)
    assert (model.solver, model.n_rounds, model.max_iter) == ("paper", None, None)  # R 10 and T 100 are its defaults


@pytest.mark.data
def test_features_taken_from_rich_nodes_are_the_builders(data_folder):
    from cfmgml.datasets import bags_from_images

    files = sorted((data_folder / "msrc_v2" / "images").glob("1_1*_s.webp"))[:2]
    masks = [data_folder / "msrc_v2" / "segments" / f"{file.stem}.png" for file in files]
    rich = bags_from_images(files, masks, features="rich")
    for features in ("paper", "hellinger"):
        built = bags_from_images(files, masks, features=features)
        taken = with_features(rich, features).graphs.node_attributes
        np.testing.assert_allclose(taken, built.graphs.node_attributes, atol=1e-6)
