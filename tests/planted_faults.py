"""Plant faults in a copy of the project, one at a time, and check that its tests catch each.

    python tests/planted_faults.py [--only WORD] [--list]

A fault is a small change of one line that a tired programmer might make: a weight without its
correction, a draw that is skipped, an eigenvector that is lost, a result that is stale. The tests
named beside it must fail. The program ends with the faults that no test has noticed, and fails if
there are any. `tests/project/test_planted_faults.py` checks that each can still be planted.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).parents[1]
COPIED = (
    "core",
    "explorer",
    "benchmarks",
    "tests",
    "scripts",
    "packaging",
    "docs",
    "examples",
    ".github",
    ".gitignore",
    ".pre-commit-config.yaml",
    "pyproject.toml",
    "constraints.txt",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
)


class Fault(NamedTuple):
    """A change of the source that tests must notice.

    `path` is below the root of the project; `text` stands in that file exactly once and becomes
    `fault`; `tests` are the paths, below `tests/`, of the tests that must fail.
    """

    name: str
    path: str
    text: str
    fault: str
    tests: str


FAULTS = (
    Fault(
        "a part of a cluster is taken for the whole",
        "core/kdegraph/bands.py",
        "same = 2 * common > either",
        "same = 4 * common > either",
        "clustering/test_ribbon.py",
    ),
    Fault(
        "bands of the last data are taken for those of the new ones",
        "explorer/kdegraph_explorer/views/ribbon.py",
        "if shown is not self._dataset:",
        "if self._dataset is None:",
        "explorer/test_ribbon.py",
    ),
    Fault(
        "links of pictures on a package index lead to pages about them",
        "scripts/build_hooks.py",
        'kind = "raw" if picture else "blob"',
        'kind = "blob"',
        "project/test_release.py",
    ),
    Fault(
        "a release may have another version than its tag",
        "scripts/release.py",
        'if tag and tag != f"v{released}":',
        'if tag and tag == f"v{released}":',
        "project/test_release.py",
    ),
    Fault(
        "a command's help is that of all commands",
        "docs/_ext/command_help.py",
        "text = command.get_help(context)",
        "text = main.get_help(context)",
        "project/test_manual.py",
    ),
    Fault(
        "distances given as weights are not noticed",
        "core/kdegraph/spectral/checked_graph.py",
        "if given.kernel is None and (finding",
        "if given.kernel is not None and (finding",
        "graph/test_mistaken_matrices.py",
    ),
    Fault(
        "weights are taken for distances",
        "core/kdegraph/findings.py",
        "if np.mean(list(_correlations(ranks.reshape(entries.shape)))) < 0.5:",
        "if np.mean(list(_correlations(ranks.reshape(entries.shape)))) < -1.5:",
        "graph/test_mistaken_matrices.py",
    ),
    Fault(
        "identical points count as several neighbors where distances are given",
        "core/kdegraph/precomputed.py",
        "identical = scipy.sparse.csr_array((np.ones(len(zero)), pairs), shape=rows.shape)",
        "identical = scipy.sparse.csr_array(rows.shape)",
        "clustering/test_precomputed.py",
    ),
    Fault(
        "categories of a mixed table count twice",
        "core/kdegraph/io/mixed.py",
        "SIDE = np.sqrt(0.5)",
        "SIDE = 1.0",
        "io/test_mixed_tables.py",
    ),
    Fault(
        "the effect of a column in a cluster counts the ranks within the cluster",
        "core/kdegraph/descriptions.py",
        "(ranks[own].mean() - (len(own) + 1) / 2) / n_outside",
        "ranks[own].mean() / len(ordered)",
        "test_descriptions.py",
    ),
    Fault(
        "the share of a category outside counts the cluster, too",
        "core/kdegraph/descriptions.py",
        "outside = (totals[own] - counts) / n_outside",
        "outside = totals[own] / totals.sum()",
        "test_descriptions.py",
    ),
    Fault(
        "doubtful rows are taken for typical ones",
        "core/kdegraph/descriptions.py",
        "np.lexsort((deviations[i], doubt))",
        "np.lexsort((deviations[i],))",
        "test_descriptions.py",
    ),
    Fault(
        "the view of what sets clusters apart compares the selection by its numbers",
        "explorer/kdegraph_explorer/views/why.py",
        "if np.ndim(chosen):",
        "if np.ndim(chosen) == 2:",
        "explorer/test_why.py",
    ),
    Fault(
        "the button that standardizes the columns takes that back",
        "explorer/kdegraph_explorer/views/alerts.py",
        "lambda: table.standardize_all(True),",
        "lambda: table.standardize_all(False),",
        "explorer/test_advice.py",
    ),
    Fault(
        "neighboring columns of 0 and 1 are never one category",
        "core/kdegraph/io/mixed.py",
        "if np.min(total) == 1 and len(run) > 1:",
        "if np.min(total) == 2:",
        "io/test_mixed_tables.py",
    ),
    Fault(
        "a gzip archive is unpacked beyond the limit",
        "core/kdegraph/io/files.py",
        "if size > max_bytes:\n                limit",
        "if size > 2**60:\n                limit",
        "io/test_formats.py",
    ),
    Fault(
        "output is cut off where standard output has no buffer",
        "core/kdegraph/cli/_output.py",
        "rest = rest[sys.stdout.buffer.write(rest) :]",
        "rest = rest[: 0 * sys.stdout.buffer.write(rest)]",
        "cli/test_pipes.py",
    ),
    Fault(
        "a sparse matrix of distances needs both directions of a pair",
        "core/kdegraph/precomputed.py",
        "weights = weights.maximum(weights.T)",
        "weights = weights.minimum(weights.T)",
        "clustering/test_precomputed.py",
    ),
    Fault(
        "loops of foreign graphs count twice",
        "core/kdegraph/foreign_graphs.py",
        "no_loop = pairs[:, 0] != pairs[:, 1]",
        "no_loop = pairs[:, 0] >= 0",
        "graph/test_foreign_graphs.py",
    ),
    Fault(
        "coordinates of new points are not divided by 1 - eigenvalue",
        "core/kdegraph/clustering/out_of_sample.py",
        "return found[:, 1:] / found[:, :1] / divisors",
        "return found[:, 1:] / found[:, :1]",
        "clustering/test_scikit_learn_words.py",
    ),
    Fault(
        "one cluster has the best score",
        "core/kdegraph/estimators.py",
        "            return 0.0\n        return float(adjusted",
        "            return 1.0\n        return float(adjusted",
        "clustering/test_scikit_learn_words.py",
    ),
    Fault(
        "the limit of one call stays",
        "core/kdegraph/runtime/threads.py",
        "_limit.reset(before)",
        "pass",
        "clustering/test_scikit_learn_words.py",
    ),
    Fault(
        "points that are as sure as asked for are noise",
        "core/kdegraph/decision.py",
        "self.vote.probabilities < noise",
        "self.vote.probabilities <= noise",
        "clustering/test_stability.py",
    ),
    Fault(
        "new points out of reach belong to the first cluster",
        "core/kdegraph/clustering/out_of_sample.py",
        "sums[far, labels[nearest]] = 1.0",
        "sums[far, 0] = 1.0",
        "clustering/test_estimators.py",
    ),
    Fault(
        "new points are compared by their degrees, not by their places",
        "core/kdegraph/estimators.py",
        "queries = points_of(self._checked_queries(X)[rows], self.metric)",
        "queries = points_of(self._checked_queries(X)[rows])",
        "test_metrics.py",
    ),
    Fault(
        "lengths through the sphere count as lengths along its surface",
        "core/kdegraph/metrics.py",
        '"haversine": Metric(_places, _arc)',
        '"haversine": Metric(_places, lambda distances: distances)',
        "test_metrics.py",
    ),
    Fault(
        "distances of sparse points keep what cancellation has left of them",
        "core/kdegraph/geometry/sparse_points.py",
        "if not out[j] >= LOST * norm:",
        "if False:",
        "geometry/test_sparse_points.py",
    ),
    Fault(
        "a sparse point is its own neighbor",
        "core/kdegraph/geometry/sparse_points.py",
        "if out[j] < squared[i, 0] and tile.first + j != numbers[i]:",
        "if out[j] < squared[i, 0]:",
        "geometry/test_sparse_points.py",
    ),
    Fault(
        "sparse directions are divided by the squares of their lengths",
        "core/kdegraph/metrics.py",
        "directions.data /= np.sqrt(squares)[row]",
        "directions.data /= squares[row]",
        "test_sparse.py",
    ),
    Fault(
        "new sparse points have the bandwidths of others",
        "core/kdegraph/scaled_kernel.py",
        "rows.fill(queries[some], local.at(some), values)",
        "rows.fill(queries[some], local, values)",
        "test_sparse.py",
    ),
    Fault(
        "a sigma in the units of the file meets standardized columns",
        "core/kdegraph/cli/_options.py",
        'options.metric == "euclidean" and not isinstance(options.sigma, float)',
        'options.metric == "euclidean"',
        "cli/test_commands.py",
    ),
    Fault(
        "graphs for other programs have standardized columns",
        "core/kdegraph/cli/graph.py",
        "_write(path, built, found.data)",
        "_write(path, built, found.scaled)",
        "cli/test_commands.py",
    ),
    Fault(
        "index arrays of sparse matrices are followed unchecked",
        "core/kdegraph/validation.py",
        "if n_values and (indices.min() < 0 or indices.max() >= size):",
        "if n_values and indices.min() < 0:",
        "test_arguments.py",
    ),
    Fault(
        "masked entries are used",
        "core/kdegraph/validation.py",
        "    if np.ma.is_masked(value):",
        "    if np.ma.is_masked(value) and np.ndim(value) == 2:",
        "test_arguments.py",
    ),
    Fault(
        "the key of the check of symmetry is known",
        "core/kdegraph/spectral/checked_graph.py",
        "key = np.uint64(secrets.randbits(64) | 1)",
        "key = np.uint64(0x9E3779B97F4A7C15)",
        "spectral/test_arguments.py",
    ),
    Fault(
        "a graph is saved over the earlier file",
        "core/kdegraph/graph_files.py",
        'with writing(path) as temporary, open(temporary, "wb") as file:',
        'with open(path, "wb") as file:',
        "runtime/test_replacing.py",
    ),
    Fault(
        "arrays of a file are read before their shapes are checked",
        "core/kdegraph/graph_files.py",
        "    _check_shapes(headers, shapes)",
        "    _check_shapes({name: read(name) for name in headers}, shapes)",
        "graph/test_graph_files.py",
    ),
    Fault(
        "the limit of a full graph is not kept while its rows are computed",
        "core/kdegraph/baselines.py",
        "if (needed := _ENTRY_BYTES * stored) > limit:",
        "if (needed := _ENTRY_BYTES * stored) > 100 * limit:",
        "graph/test_baselines.py",
    ),
    Fault(
        "lines of a file are counted from the first row",
        "core/kdegraph/io/text.py",
        "n_before + 1 if n_before + table.num_rows == n_whole else None,",
        "1 if n_before + table.num_rows == n_whole else None,",
        "io/test_tables.py",
    ),
    Fault(
        "tiles mix up who drew their points",
        "core/kdegraph/tiles/build.py",
        "        by[draws],",
        "        by,",
        "graph/test_tiles.py",
    ),
    Fault(
        "the points of an interrupted graph are not compared",
        "core/kdegraph/tiles/points.py",
        "different = (checked_rows(block, first) != before).any(axis=1)",
        "different = np.zeros(len(block), bool)",
        "graph/test_tiles.py",
    ),
    Fault(
        "checksums of an interrupted graph are not compared",
        "core/kdegraph/tiles/folder.py",
        'if checksum(self.read(step, name)) != entry["checksum"]:',
        "if checksum(self.read(step, name)) < 0:",
        "graph/test_tiles.py",
    ),
    Fault(
        "products of tiles forget the degrees",
        "core/kdegraph/tiles/matrix.py",
        "shares = weights / np.repeat(degrees, np.diff(indptr))",
        "shares = weights / degrees.mean()",
        "clustering/test_by_tiles.py",
    ),
    Fault(
        "nodes of a tiled graph have vertices of two components",
        "core/kdegraph/tiles/matrix.py",
        "pairs = run * np.int64(component.max() + 1) + component",
        "pairs = run * np.int64(component.max() + 1)",
        "clustering/test_by_tiles.py",
    ),
    Fault(
        "damaged tiles are not noticed when clusters are completed",
        "core/kdegraph/tiles/spectrum.py",
        "                store.check_all()\n",
        "",
        "clustering/test_by_tiles.py",
    ),
    Fault(
        "Parquet tables are read by their first row groups",
        "core/kdegraph/io/lazily.py",
        "for group in fragment.split_by_row_group()",
        "for group in fragment.split_by_row_group()[:1]",
        "io/test_lazily.py",
    ),
    Fault(
        "copies of points count as neighbors in the automatic bandwidth",
        "core/kdegraph/bandwidth.py",
        "if len(places) < len(X) and _rounding_explains(X, len(places)):",
        "if len(places) < len(X):",
        "graph/test_copies.py",
    ),
    Fault(
        "gray pictures are read column after column",
        "core/kdegraph/io/arrays.py",
        "for i, j in np.ndindex(array.shape[1:]))",
        "for j, i in np.ndindex(array.shape[:0:-1]))",
        "io/test_datasets.py explorer/test_row_pictures.py",
    ),
    Fault(
        "saved files are colored by cluster whatever is chosen",
        "explorer/kdegraph_explorer/exports/still.py",
        "*colors_of(state.coloring, outcome.colors),",
        "*colors_of(None, outcome.colors),",
        "explorer/test_coloring.py",
    ),
    Fault(
        "whole numbers that repeat count as a running number",
        "core/kdegraph/io/arrow.py",
        "all_differ = len(np.unique(values)) == len(values)",
        "all_differ = True",
        "io/test_recognition.py",
    ),
    Fault(
        "the box of a leaf leaves out its last point",
        "core/kdegraph/geometry/tree.py",
        "low[c], high[c] = min(min(a, a1), min(a2, a3)), max(max(b, b1), max(b2, b3))",
        "low[c], high[c] = min(a, min(a1, a2)), max(b, max(b1, b2))",
        "geometry/test_tree.py",
    ),
    Fault(
        "an edge pulls its vertices from one side only",
        "core/kdegraph/layout.py",
        "pull = 4.0 * weights[e]",
        "pull = 2.0 * weights[e]",
        "spectral/test_layout.py",
    ),
    Fault(
        "few random vertices push less than many",
        "core/kdegraph/layout.py",
        "share = REPULSION * pulls[i] / N_PUSHING",
        "share = pulls[i] / N_PUSHING",
        "spectral/test_layout.py",
    ),
    Fault(
        "clusters of replicates keep their own names in a vote",
        "core/kdegraph/stability.py",
        "return name.astype(np.int32)[labels]",
        "return labels",
        "clustering/test_stability.py",
    ),
    Fault(
        "a few outliers that are always cut off count as stable clusters",
        "core/kdegraph/stability.py",
        "agreement * min(1.0, effective / MIN_EFFECTIVE)",
        "agreement",
        "clustering/test_stability.py",
    ),
    Fault(
        "scales that are far less stable vote, too",
        "core/kdegraph/stability.py",
        "if stable >= enough",
        "if stable >= -1.0",
        "clustering/test_stability.py",
    ),
    Fault(
        "each graph of many dimensions has one vote, by eigenvectors alone",
        "core/kdegraph/stability.py",
        "labelings += [one.clusters.labels, *one.further_labels]",
        "labelings += [one.clusters.labels]",
        "clustering/test_stability.py",
    ),
    Fault(
        "identical points may have different labels",
        "core/kdegraph/stability.py",
        "if identical is not None:",
        "if False:",
        "clustering/test_stability.py",
    ),
    Fault(
        "numbers of clusters are weighed by the last scale alone",
        "core/kdegraph/automatic.py",
        "total.update({",
        "total = Counter({",
        "test_eigengap.py",
    ),
    Fault(
        "the entropy of neighbors lacks their mean exponent",
        "core/kdegraph/local_bandwidth.py",
        "excess = math.log(total) + mean - target",
        "excess = math.log(total) - target",
        "graph/test_local_bandwidth.py",
    ),
    Fault(
        "nodes are left out that hold the farthest of the nearest neighbors",
        "core/kdegraph/geometry/tree_search.py",
        "bounds[lane] = nearest[lane, 0]",
        "bounds[lane] = nearest[lane, min(1, nearest.shape[1] - 2)]",
        "geometry/test_neighbors.py",
    ),
    Fault(
        "nodes are lumped with twenty times the error that is allowed",
        "core/kdegraph/kde/tree/traversal.py",
        "if 0.5 * (largest - smallest) <= allowed and not mixed:",
        "if 0.5 * (largest - smallest) <= 20.0 * allowed and not mixed:",
        "kde/test_kernel_sum.py",
    ),
    Fault(
        "sums on a grid over most of the points forget the other sources",
        "core/kdegraph/kde/dispatch.py",
        "    if not method.sources.all():",
        "    if not method.sources.any():",
        "kde/test_kernel_sum.py",
    ),
    Fault(
        "a point counts in its own degree",
        "core/kdegraph/kde/tree/traversal.py",
        "if accuracy.exclude_self and begin <= i0 + k < end:",
        "if accuracy.exclude_self and begin < i0 + k < end:",
        "kde/test_kernel_sum.py sampling/test_laws.py",
    ),
    Fault(
        "every proposal is accepted",
        "core/kdegraph/sampling/rejection_proposals.py",
        "decision[p] = exp_neg(exponent[p]) - decision[p]",
        "decision[p] = exp_neg(exponent[p])",
        "sampling/test_laws.py",
    ),
    Fault(
        "the alias table forgets what a large entry has given away",
        "core/kdegraph/sampling/rejection_lists.py",
        "threshold[j] -= 1.0 - threshold[k]",
        "threshold[j] -= (1.0 - threshold[k]) * 0.9",
        "sampling/test_laws.py",
    ),
    Fault(
        "every fiftieth draw among near sources repeats the one before",
        "core/kdegraph/sampling/near.py",
        "start = draw_stream(own, draw)",
        "start = draw_stream(own, draw - (draw % 50 == 49))",
        "sampling/test_laws.py",
    ),
    Fault(
        "uniforms of the right half are not rescaled",
        "core/kdegraph/sampling/recursive.py",
        "row[i] = min(max((row[i] - p) / (1.0 - p), 0.0), top)",
        "row[i] = min(max((row[i] - p), 0.0), top)",
        "sampling/test_recursive.py sampling/test_laws.py",
    ),
    Fault(
        "an edge that both ends may draw counts twice",
        "core/kdegraph/edge_weights.py",
        "out[m] = p + q - p * q",
        "out[m] = p + q",
        "graph/test_graph.py",
    ),
    Fault(
        "weights of independent draws are those of stratified ones",
        "core/kdegraph/edge_weights.py",
        "n_draws = 1 if law.independent else law.n_rounds",
        "n_draws = law.n_rounds",
        "graph/test_graph.py",
    ),
    Fault(
        "an eigenvector may be missing",
        "core/kdegraph/spectral/solver/iteration.py",
        "converged = bool(residual <= target and lacking_growth <= 0)",
        "converged = bool(residual <= target)",
        "spectral/test_starts.py",
    ),
    Fault(
        "the residual is larger than was asked for",
        "core/kdegraph/spectral/solver/iteration.py",
        "residual, target = ritz.residuals[:k].max(), target_residual(tol, ritz.values)",
        "residual, target = ritz.residuals[:k].max(), 100 * target_residual(tol, ritz.values)",
        "spectral/test_starts.py",
    ),
    Fault(
        "the weights of a coarse graph leave out the degrees",
        "core/kdegraph/spectral/solver/coarse.py",
        "total[b] += scaled[i] * weights[p] * scaled[j]",
        "total[b] += weights[p]",
        "spectral/test_coarse.py",
    ),
    Fault(
        "smoothing ends before the eigenvalues have settled",
        "core/kdegraph/spectral/solver/coarse.py",
        "SETTLED = 0.1",
        "SETTLED = 0.999",
        "spectral/test_coarse.py",
    ),
    Fault(
        "a group takes rows that are in another one",
        "core/kdegraph/spectral/solver/coarse.py",
        "                free = False\n                break\n",
        "                break\n",
        "spectral/test_coarse.py",
    ),
    Fault(
        "each coarse graph has guard vectors for those of the last one",
        "core/kdegraph/spectral/solver/coarse.py",
        "coarse_vectors(coarse.operator, coarse.null, k, rng",
        "coarse_vectors(coarse.operator, coarse.null, width, rng",
        "spectral/test_coarse.py",
    ),
    Fault(
        "BLAS calls threads of its own for products of blocks",
        "core/kdegraph/spectral/blocks.py",
        "with blas_threads(0):",
        "with blas_threads(10**6):",
        "runtime/test_blas.py",
    ),
    Fault(
        "the null vector of one component stands for all",
        "core/kdegraph/spectral/blocks.py",
        "of_null = np.repeat(dots[components] @ rotation, np.diff(bounds), axis=0)",
        "of_null = np.repeat(dots[:1] @ rotation, bounds[-1], axis=0)",
        "spectral/test_spectrum.py",
    ),
    Fault(
        "components that a late edge joins stay apart",
        "core/kdegraph/spectral/components.py",
        "found |= parent[indices[p]] != root",
        "found = parent[indices[p]] != root",
        "spectral/test_checked_graph.py",
    ),
    Fault(
        "edges are cut in one direction only",
        "core/kdegraph/clustering/conductance.py",
        "if labels[np.uint32(indices[p])] != own",
        "if labels[np.uint32(indices[p])] > own",
        "clustering/test_clustering.py",
    ),
    Fault(
        "the eigengap is counted from the wrong end",
        "core/kdegraph/eigengap.py",
        "key=lambda k: -gaps[k - 1])",
        "key=lambda k: -gaps[k - 2])",
        "test_eigengap.py",
    ),
    Fault(
        "bandwidths per point rescale exponents and not distances",
        "core/kdegraph/geometry/local_scale.py",
        "t = exponent_of(code, local.factor[i] * others.factor[j] * u)",
        "t = local.factor[i] * others.factor[j] * exponent_of(code, u)",
        "graph/test_baselines.py sampling/test_mixture.py graph/test_local.py",
    ),
    Fault(
        "distances of listed neighbors are not squared",
        "core/kdegraph/sampling/mixture.py",
        "law.local, j, scaled * scaled)",
        "law.local, j, scaled)",
        "sampling/test_mixture.py",
    ),
    Fault(
        "more clusters than eigenvalues are thought impossible",
        "core/kdegraph/eigengap.py",
        "of_more = len(values) ** 0.1 * max(0.0, math.log(0.5 / values[-1]))",
        "of_more = 0.0",
        "test_eigengap.py",
    ),
    Fault(
        "eigenvectors that do not align are taken for clusters",
        "core/kdegraph/eigengap.py",
        ">= MIN_ALIGNMENT:",
        ">= 0.0:",
        "test_eigengap.py",
    ),
    Fault(
        "the axes of the eigenvectors are not turned to the nearest rows",
        "core/kdegraph/eigengap.py",
        "axes = _rotated(axes, rows)",
        "_rotated(axes, rows)",
        "test_eigengap.py",
    ),
    Fault(
        "rows of the eigenvectors are not scaled to length 1",
        "core/kdegraph/eigengap.py",
        "rows = vectors[linked] / np.linalg.norm(vectors[linked], axis=1)[:, None]",
        "rows = vectors[linked]",
        "test_eigengap.py",
    ),
    Fault(
        "an item between two ranges is skipped",
        "core/kdegraph/runtime/parallel.py",
        "return start, self._next\n",
        "return start + (start > 0), self._next\n",
        "runtime/test_parallel.py",
    ),
    Fault(
        "each constant has a part of its own",
        "core/kdegraph/runtime/jit.py",
        "args = [types.unliteral(kind) for kind in args]",
        "args = list(args)",
        "runtime/test_first_use.py",
    ),
    Fault(
        "machine code of another signature is used",
        "core/kdegraph/runtime/cache.py",
        "if key == wanted:",
        "if key:",
        "runtime/test_first_use.py",
    ),
    Fault(
        "damaged machine code is used",
        "core/kdegraph/runtime/cache.py",
        "if checksum == _hash(content):",
        "if checksum:",
        "runtime/test_first_use.py",
    ),
    Fault(
        "kernels are compiled in the main thread",
        "core/kdegraph/runtime/jit.py",
        "if not in_main_thread or",
        "if in_main_thread or",
        "runtime/test_interrupts.py",
    ),
    Fault(
        "cancelled work goes on",
        "core/kdegraph/runtime/progress.py",
        "if cancelled.is_set():",
        "if cancelled.is_set() and fraction > 1.0:",
        "runtime/test_responsive.py",
    ),
    Fault(
        "infinite coordinates are let in",
        "core/kdegraph/validation.py",
        "if not np.isfinite(array).all():\n        row, column",
        "if np.isnan(array).any():\n        row, column",
        "test_arguments.py",
    ),
    Fault(
        "a server answers to every host",
        "explorer/kdegraph_explorer/serving/origins.py",
        "if not own and not self._lists(asked, any_scheme=True):",
        "if asked is None:",
        "explorer/test_origins.py",
    ),
    Fault(
        "pages of other servers on this machine may connect",
        "explorer/kdegraph_explorer/serving/origins.py",
        "page[1:] == asked[1:]",
        "page.host == asked.host",
        "explorer/test_origins.py",
    ),
    Fault(
        "the secret of servers can be read by others",
        "explorer/kdegraph_explorer/serving/user_secret.py",
        "os.O_EXCL, 0o600)",
        "os.O_EXCL, 0o644)",
        "explorer/test_user_secret.py",
    ),
    Fault(
        "a cookie lets in at another path",
        "explorer/kdegraph_explorer/serving/access.py",
        "return value == self.path.encode()",
        "return bool(value)",
        "explorer/test_access.py",
    ),
    Fault(
        "sessions are taken from addresses",
        "explorer/kdegraph_explorer/serving/access.py",
        'any(name.startswith("bokeh-") for name in arguments)',
        "False",
        "explorer/test_access.py",
    ),
    Fault(
        "a stale result is delivered",
        "explorer/kdegraph_explorer/jobs.py",
        "if generation >= self._barrier and not self._closed:",
        "if not self._closed:",
        "explorer/test_jobs.py",
    ),
    Fault(
        "a notebook that is loaded again shows the explorer as it was at first",
        "explorer/kdegraph_explorer/patches/jupyter_bokeh.py",
        "serialize_json(widget._model_to_traits(widget._model))",
        "serialize_json(bundle)",
        "explorer/test_notebook.py",
    ),
    Fault(
        "points that are selected before there are any are forgotten",
        "explorer/kdegraph_explorer/attributes.py",
        "self._wait()  # other data",
        "pass  # other data",
        "explorer/test_object.py",
    ),
    Fault(
        "an address does not say that a selection was left out",
        "explorer/kdegraph_explorer/address.py",
        'short else f"{n_selected:,} points"',
        "short else []",
        "explorer/test_share.py",
    ),
    Fault(
        "the first of several requests is kept, not the newest",
        "explorer/kdegraph_explorer/jobs.py",
        "self._pending = (self._generation, request)",
        "self._pending = self._pending or (self._generation, request)",
        "explorer/test_jobs.py",
    ),
    Fault(
        "data are loaded before the page listens",
        "explorer/kdegraph_explorer/session.py",
        "if self._started and not self.settling and key == self.state.source:",
        "if not self.settling and key == self.state.source:",
        "explorer/test_sources.py",
    ),
    Fault(
        "rows of distances are filled with points that they have already",
        "core/kdegraph/transformer.py",
        "near[new & (np.cumsum(new, axis=1) <= missing[:, None])]",
        "near[np.cumsum(np.ones_like(new), axis=1) <= missing[:, None]]",
        "clustering/test_transformer.py",
    ),
    Fault(
        "rows of distances are not sorted",
        "core/kdegraph/transformer.py",
        "rows = sort_graph_by_row_values(rows, warn_when_not_sorted=False)",
        "",
        "clustering/test_transformer.py",
    ),
    Fault(
        "the density of a new point leaves the point itself out",
        "core/kdegraph/transformer.py",
        "densities[n] = row.sum()",
        "densities[n] = row[:n].sum()",
        "clustering/test_transformer.py",
    ),
    Fault(
        "files of graphs forget alpha",
        "core/kdegraph/graph_parameters.py",
        'if one.name != "sigma")',
        'if one.name not in ("sigma", "alpha"))',
        "graph/test_graph_files.py",
    ),
    Fault(
        "constant columns count as narrow ones",
        "core/kdegraph/diagnosis.py",
        "[np.count_nonzero(spreads == 0) :]",
        "[0:]",
        "graph/test_diagnosis.py",
    ),
    Fault(
        "isolated points count as parts",
        "core/kdegraph/diagnosis.py",
        "parts = np.sort(sizes[sizes > 1])[::-1]",
        "parts = np.sort(sizes)[::-1]",
        "graph/test_diagnosis.py",
    ),
    Fault(
        "distances that hardly differ are not found",
        "core/kdegraph/diagnosis.py",
        "5 * math.exp(-40)",
        "5 * math.exp(-400)",
        "graph/test_diagnosis.py",
    ),
    Fault(
        "the errors of far nodes are counted too small",
        "core/kdegraph/sampling/near_lists.py",
        "error += 0.5 * size * (largest - smallest)",
        "error += 0.2 * size * (largest - smallest)",
        "sampling/test_laws.py",
    ),
    Fault(
        "far points are accepted without looking at their kernel values",
        "core/kdegraph/sampling/near.py",
        "accepted = t < UNDERFLOW and v - k < exp_neg(max(t - far.nearest[low], 0.0))",
        "accepted = t < UNDERFLOW",
        "sampling/test_laws.py",
    ),
    Fault(
        "weights of edges forget the bandwidth of the row",
        "core/kdegraph/geometry/local_scale.py",
        "exponent_of(code, own_factor[p] * factor[j] * out[p])",
        "exponent_of(code, factor[j] * out[p])",
        "graph/test_local.py",
    ),
    Fault(
        "densities are divided out of one end only",
        "core/kdegraph/geometry/local_scale.py",
        "out[j] = own_factor * factor[j] * out[j] + (own_shift + shift[j])",
        "out[j] = own_factor * factor[j] * out[j] + shift[j]",
        "graph/test_local.py",
    ),
    Fault(
        "weights of the mixture forget that the other end draws, too",
        "core/kdegraph/sampling/mixture.py",
        "missed = _miss(law, i, j, t, n_rounds) * _miss(law, j, i, t, n_rounds)",
        "missed = _miss(law, i, j, t, n_rounds)",
        "sampling/test_mixture.py",
    ),
    Fault(
        "far points of the mixture are accepted as if all were alike",
        "core/kdegraph/sampling/mixture.py",
        "return (1.0 - far_share * accepted / law.far_total[i]) ** n_rounds",
        "return (1.0 - far_share / law.far_total[i]) ** n_rounds",
        "sampling/test_mixture.py",
    ),
    Fault(
        "pairs are too far apart along the principal axes too soon",
        "core/kdegraph/geometry/neighbor_forest.py",
        "if _squared_distance(axes[i], axes[j]) < squared[-1]:",
        "if _squared_distance(axes[i], axes[j]) < 0.5 * squared[-1]:",
        "geometry/test_neighbor_forest.py",
    ),
    Fault(
        "eigenvectors beyond the clusters do not fade",
        "core/kdegraph/clustering/embedding.py",
        "rows *= _fade(eigenvalues, k) ** FADING[kind]",
        "rows *= 1.0",
        "clustering/test_default_bandwidths.py",
    ),
    Fault(
        "bandwidths of another perplexity are taken for known",
        "explorer/kdegraph_explorer/pipeline.py",
        "widths_key = (request.dataset, bandwidth)",
        "widths_key = (request.dataset, bandwidth.is_local)",
        "explorer/test_local_bandwidths.py",
    ),
    Fault(
        "the explorer decides with another seed than the estimator",
        "explorer/kdegraph_explorer/pipeline.py",
        "Settings(), seed_of(request.seed), progress",
        "Settings(), request.seed, progress",
        "explorer/test_decided.py",
    ),
    Fault(
        "addresses of earlier versions mean what is decided now",
        "explorer/kdegraph_explorer/address.py",
        "own = source == Generators.key and not part",
        'own = source != "upload"',
        "explorer/test_decided.py",
    ),
    Fault(
        "a sigma set for other points stays",
        "explorer/kdegraph_explorer/state.py",
        "        if self.decides:\n            self.sigma_auto = True",
        "        if self.decides:\n            self.sigma_auto = self.sigma_auto",
        "explorer/test_decided.py",
    ),
    Fault(
        "BLAS is limited by the first thread of a program alone",
        "core/kdegraph/runtime/threads.py",
        "                _take_control()\n                self._limit = _blas()",
        "                self._limit = _blas()",
        "runtime/test_blas.py",
    ),
    Fault(
        "points within a cluster count as a cut in the full graph",
        "explorer/kdegraph_explorer/algorithm/judgement.py",
        "np.flatnonzero(colors != c)",
        "np.flatnonzero(colors >= 0)",
        "explorer/test_judge.py",
    ),
    Fault(
        "conductances of an earlier kernel width are shown",
        "explorer/kdegraph_explorer/algorithm/judgement.py",
        "return self.colors is outcome.colors and self.bandwidth == bandwidth",
        "return self.colors is outcome.colors",
        "explorer/test_judge.py",
    ),
    Fault(
        "eigenvalues are drawn on another scale than the one that decides",
        "explorer/kdegraph_explorer/drawing/eigenvalue_plot.py",
        "return np.maximum(values, FLOOR * _last(values))",
        "return np.maximum(values, FLOOR**2 * _last(values))",
        "explorer/test_drawing.py",
    ),
    Fault(
        "old edges lie under new points",
        "explorer/kdegraph_explorer/views/plots.py",
        "if layers.positions is not None:  # the edges",
        "if layers.positions is False:  # the edges",
        "explorer/test_views.py",
    ),
    Fault(
        "after Cancel, points without clusters stay on the screen",
        "explorer/kdegraph_explorer/session.py",
        "self.state.show_last()",
        "pass",
        "explorer/test_cancel.py",
    ),
    Fault(
        "an edge stands for its weight, whatever the similarity of its ends",
        "explorer/kdegraph_explorer/algorithm/proof.py",
        "entries.data[above] * np.exp(squares)",
        "entries.data[above]",
        "explorer/test_start.py",
    ),
    Fault(
        "an address without a source forgets the file that the page began with",
        "explorer/kdegraph_explorer/address.py",
        'values.pop("source", session.first)',
        'values.pop("source", next(iter(session.sources)))',
        "explorer/test_share.py",
    ),
    Fault(
        "a first look takes away what was said of the data",
        "explorer/kdegraph_explorer/pipeline.py",
        "return () if last is None else last.findings",
        "return ()",
        "explorer/test_advice.py",
    ),
    Fault(
        "the circle of the kernel width is half as wide",
        "explorer/kdegraph_explorer/drawing/one_point.py",
        '"diameter": [2 * sigma],',
        '"diameter": [sigma],',
        "explorer/test_local_bandwidths.py",
    ),
    Fault(
        "a row that has been measured is measured again",
        "benchmarks/__main__.py",
        "if known and not again and not (retry and known[FAILURE]):",
        "if known and not again and known[FAILURE]:",
        "benchmarks/test_tool.py",
    ),
    Fault(
        "a row that takes for ever holds up the run",
        "benchmarks/row.py",
        "if not receiver.poll(limit):",
        "if not receiver.poll(None):",
        "benchmarks/test_tool.py",
    ),
    Fault(
        "another method wins by a difference that is noise",
        "benchmarks/report.py",
        "best(mine, theirs) == mine or _ratio(mine, theirs) <= WINS",
        "best(mine, theirs) == mine",
        "benchmarks/test_tool.py",
    ),
    Fault(
        "a photograph is scored against a segmentation with another number of segments",
        "benchmarks/photographs.py",
        "int(np.argmin(np.abs(counts - median)))",
        "int(np.argmax(np.abs(counts - median)))",
        "benchmarks/test_experiments.py",
    ),
    Fault(
        "experiments draw other points than the explorer",
        "benchmarks/data.py",
        'plain.lower().replace(" ", "_"), n=n, seed=seed)',
        'plain.lower().replace(" ", "_"), n=n, seed=seed + 1)',
        "benchmarks/test_experiments.py",
    ),
    Fault(
        "rows that are not measured are listed as measured",
        "benchmarks/__main__.py",
        "sum(table.find(row) is not None",
        "sum(table.find(row) is None",
        "benchmarks/test_tool.py",
    ),
    Fault(
        "the small cluster beside a large one is no tight one",
        "core/kdegraph/datasets/shapes.py",
        "np.where(y, 0.2, 1.0))[:, None]",
        "np.where(y, 1.0, 1.0))[:, None]",
        "io/test_generators.py",
    ),
)


def plant(fault, root):
    """Change the copy of the project below `root`."""
    path = root / fault.path
    source = path.read_text()
    if source.count(fault.text) != 1:
        raise ValueError(
            f"{fault.name}: {fault.path} holds {fault.text!r} {source.count(fault.text)} times"
        )
    path.write_text(source.replace(fault.text, fault.fault))


def is_noticed(fault, folder):
    """Return whether the tests of a fault fail in a copy of the project with that fault."""
    root = Path(folder) / "project"
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, root / name)
    plant(fault, root)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(root / "core"), str(root / "explorer")]),
        "KDEGRAPH_CACHE_DIR": str(Path(folder) / "cache"),
    }
    tests = [str(root / "tests" / name) for name in fault.tests.split()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise RuntimeError(
            f"{fault.name}: the tests did not run:\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
        )
    return run.returncode == 1


@click.command()
@click.option("--only", default="", help="Only faults whose name contains this.")
@click.option("--list", "listed", is_flag=True, help="Name the faults, and plant none.")
def main(only, listed):
    """Plant every fault and report what the tests noticed."""
    missed = []
    for fault in FAULTS:
        if only not in fault.name:
            continue
        if listed:
            click.echo(f"{fault.name}: {fault.path}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            noticed = is_noticed(fault, folder)
        click.echo(f"{'noticed' if noticed else 'MISSED '}  {fault.name}")
        missed += [] if noticed else [fault.name]
    if missed:
        raise click.ClickException(f"no test noticed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
