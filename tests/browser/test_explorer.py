"""The explorer in a real browser."""


def test_loads_and_shows_both_graphs(explorer):
    page = explorer()
    scores = page.scores()
    assert all(value.replace(",", "").isdigit() for value in scores["Edges"]), scores
    assert abs(page.eigenvalues()[0]) < 1e-6
    assert len(set(page.colours())) > 1
