"""Controls as objects: what they set, and how they follow."""

import numpy as np
import pytest
from explorer_actions import TABLE, TWO_PAIRS, give_file, put, settle
from explorer_objects import controls, seen, widget, widgets
from kdegraph import datasets, estimate_sigma
from kdegraph_explorer import Explorer
from kdegraph_explorer.views.controls import DataControls
from kdegraph_explorer.views.markup import Text

OWN = {  # a control of each source that no other source has
    "generators": "Shape",
    "contrast": "Times as wide",
    "photographs": "Picture",
    "upload": "Choose or drop a file, up to 1 GiB",
}


def test_every_widget_has_a_label_and_a_sentence_and_is_made_when_its_source_is_chosen(explore):
    explorer = explore()
    assert not {"Picture", "Choose or drop a file, up to 1 GiB"} & {
        w.label for w in widgets(explorer)
    }
    for key, own in OWN.items():
        widget(explorer, "Source").value = key
        labels = seen(explorer)
        assert len(set(labels)) == len(labels) >= 12
        assert {one for one in OWN.values() if one in labels} == {own}
    found = widgets(explorer)
    assert len({w.label for w in found}) == len(found) >= 25
    assert all(w.description for w in found)


def test_only_points_of_the_chosen_source_are_described(explore):
    explorer = explore()
    *_, sentence = controls(explorer, DataControls).__panel__().select(Text)
    about = sentence.content
    assert about.startswith("Two interleaved half circles")
    put(explorer, source="upload")
    assert sentence.content == "The plots still show “moons”."
    give_file(explorer.session, TABLE)
    assert sentence.content == explorer.session.state.dataset.description
    put(explorer, source="generators")
    assert sentence.content == about


def test_sliders_follow_the_state_without_choosing_and_set_it(explore):
    explorer = explore(datasets.make("moons", n=100, seed=0).X)
    state = explorer.session.state
    assert state.sigma_auto
    assert state.clusters_auto
    slider = widget(explorer, "Kernel width σ")
    assert slider.value == pytest.approx(np.log10(state.sigma))
    assert widget(explorer, "Clusters k").value == state.n_clusters
    state.choose(sigma=1e-8)
    assert slider.start <= slider.value == pytest.approx(-8)
    widget(explorer, "Kernel width σ").value = -1.0
    assert (state.sigma, state.sigma_auto) == (0.1, False)
    widget(explorer, "Rounds L").value = 9
    assert state.n_rounds == 9
    widget(explorer, "Clusters k").value = 3
    assert (state.n_clusters, state.clusters_auto) == (3, False)
    widget(explorer, "k-NN neighbors").value = 4
    widget(explorer, "Seed").value = 8
    settle(explorer)
    assert state.error == ""
    assert (explorer.graph.sigma, explorer.graph.n_rounds, explorer.graph.seed) == (0.1, 9, 8)
    assert explorer.labels.max() == 2


def test_sigma_is_preset_automatic_or_chosen_by_hand(explore):
    explorer = explore()
    state = explorer.session.state
    rule, preset = widget(explorer, "auto σ"), widget(explorer, "preset σ")

    def ticked():
        settle(explorer)
        return rule.value, preset.value

    assert ticked() == (False, True)
    assert state.sigma == state.dataset.sigma
    rule.value = True
    assert ticked() == (True, False)
    assert state.sigma == estimate_sigma(state.dataset.X, seed=0)
    rule.value = False
    assert ticked() == (False, False)
    preset.value = True
    assert ticked() == (False, True)
    preset.value = False
    assert ticked() == (True, False)
    widget(explorer, "Kernel width σ").value = -1.0
    assert ticked() == (False, False)
    assert preset.visible


def test_points_without_a_preset_offer_none_and_sigma_can_be_typed(explore):
    explorer = explore(TWO_PAIRS)
    explorer.session.state.bandwidth = "one"
    rule, preset = widget(explorer, "auto σ"), widget(explorer, "preset σ")
    assert (rule.value, preset.value, preset.visible) == (True, False, False)
    rule.value = False
    rule.value = True
    assert explorer.session.state.sigma_preset  # of points that have one, as before
    typed, state = widget(explorer, "σ typed"), explorer.session.state
    for text in ("1e-3", "250", " 0.5 "):
        typed.value = text
        assert state.sigma == float(text)
    for text in ("", "wide", "-1", "0", "nan", "inf"):
        typed.value = text
        assert state.sigma == 0.5
        assert f"got {text!r}" in state.error


def test_what_may_be_automatic_is_chosen_from_the_first_result_on():
    explorer = Explorer(TWO_PAIRS)
    names = ("Kernel width σ", "σ typed", "Rounds L", "Clusters k")
    assert all(widget(explorer, name).disabled for name in names)
    settle(explorer)
    assert not any(widget(explorer, name).disabled for name in names)
    explorer.close()


def test_slider_of_sigma_is_centered_on_what_was_given_and_what_it_shows_is_no_choice(explore):
    explorer = explore(TWO_PAIRS, sigma=0.01)
    slider, typed = widget(explorer, "Kernel width σ"), widget(explorer, "σ typed")
    assert slider.value == pytest.approx(-2)
    assert slider.end - slider.value == pytest.approx(slider.value - slider.start)
    sigma = 0.123456789
    explorer.session.state.choose(sigma=sigma)
    place = slider.value
    typed.param.trigger("value")
    assert explorer.session.state.sigma == sigma
    explorer.session.state.choose(sigma=float(typed.value))  # five digits of it
    assert slider.value == place
