from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.builders.texts.texts import bags_from_texts
from cfmgml.data.overlap import overlap_summary, seen_graphs, shared_graph_groups


def bags_named(*bags):
    return bags_from_texts(
        [[f"word{name}" for name in bag] for bag in bags], graph_names=[name for bag in bags for name in bag]
    )


def test_bags_that_share_a_graph_through_others_are_one_group():
    assert shared_graph_groups(bags_named("ab", "c", "bd", "e", "dx", "e")).tolist() == [0, 1, 0, 2, 0, 2]


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=3), min_size=1, max_size=8))
def test_groups_share_no_graph_and_are_as_small_as_can_be(bags):
    groups = shared_graph_groups(bags_named(*bags)).tolist()
    assert list(dict.fromkeys(groups)) == list(range(max(groups) + 1))
    members = [
        [set(bag) for bag, g in zip(bags, groups, strict=True) if g == group] for group in range(max(groups) + 1)
    ]
    unions = [set().union(*group) for group in members]
    assert sum(map(len, unions)) == len(set().union(*unions))
    for group in members:
        reached, rest = group[0], group[1:]
        while touching := [bag for bag in rest if bag & reached]:
            reached = reached.union(*touching)
            rest = [bag for bag in rest if bag not in touching]
        assert not rest


def test_summary_counts_what_is_shared():
    bags = bags_named("ab", "bc", "d")
    summary = overlap_summary(bags.graph_names, bags.bag_ptr)
    counts = {name: value for name, value in summary.items() if name != "note"}
    assert counts == {"n_graphs": 5, "n_distinct_graphs": 4, "n_shared_graphs": 1, "n_groups": 2, "largest_group": 2}


def test_seen_graphs_are_those_of_the_training_bags():
    bags = bags_named("ab", "bc", "d")
    assert seen_graphs(bags[[0]], bags[[1, 2]]).tolist() == [True, False, False]


def test_names_are_needed():
    bags = bags_named("ab", "c")
    unnamed = replace(bags, graph_names=None)
    with pytest.raises(ValueError, match="bags must have graph_names"):
        shared_graph_groups(unnamed)
    with pytest.raises(ValueError, match="test must have graph_names"):
        seen_graphs(bags, unnamed)


def test_group_folds_keep_shared_graphs_together():
    from sklearn.model_selection import GroupKFold

    bags = bags_named("ab", "bc", "d", "de", "f", "g")
    for train, test in GroupKFold(3).split(np.zeros(6), groups=shared_graph_groups(bags)):
        assert not seen_graphs(bags[train], bags[test]).any()
