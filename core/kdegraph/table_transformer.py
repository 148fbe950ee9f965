"""Tables with numbers and categories as a step of scikit-learn's pipelines."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kdegraph.io.features import check_complete, choose
from kdegraph.io.frames import as_table
from kdegraph.io.mixed import encode
from kdegraph.validation import check_choice


class TableTransformer(TransformerMixin, BaseEstimator):
    """Turn the rows of data frames into points, as `kdegraph.datasets.table_points` does.

    Parameters
    ----------
    categories : sequence of str or int, str or int, default="auto"
        Columns that are categories, besides those of text and those of a categorical type.
    missing : {"error", "impute"}, default="error"
        Refuse missing cells, or replace them by the median of their column in the fitted frame, and
        categories and booleans by the most frequent one.

    Attributes
    ----------
    feature_names_in_ : (m,) array of str
        Columns of the fitted frame.
    n_features_in_ : int

    Examples
    --------
    >>> import kdegraph
    >>> frame = {"height": [150.0, 160.0, 170.0, 180.0], "color": ["red", "blue", "blue", "red"]}
    >>> transformer = kdegraph.TableTransformer().fit(frame)
    >>> transformer.transform({"height": [165.0], "color": ["red"]}).round(2)
    array([[0.  , 0.  , 0.71]])
    """

    feature_names_in_: NDArray[np.object_]
    n_features_in_: int

    def __init__(
        self,
        *,
        categories: Sequence[str | int] | str | int = "auto",
        missing: Literal["error", "impute"] = "error",
    ):
        self.categories = categories
        self.missing = missing

    def fit(self, X: Any, y: None = None) -> "TableTransformer":
        """Learn the scales of the numbers, and the categories.

        Parameters
        ----------
        X : data frame, dict or Table
            See `kdegraph.datasets.table_points`.
        y : None
            Ignored; accepted for the interface of scikit-learn.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a table, or if it has no column that can be a feature.
        """
        check_choice(self.missing, "missing", ("error", "impute"))
        table = as_table(X)
        _, _, self._parts = choose(table, None, None, self.categories)
        self.feature_names_in_ = np.array([column.name for column in table.columns], dtype=object)
        self.n_features_in_ = len(table.columns)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the points.

        Parameters
        ----------
        X : data frame, dict or Table
            With the columns of the fitted one, in any order.

        Returns
        -------
        (n, d) float64 array
            One row for each row of the frame, and the coordinates of `get_feature_names_out`.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a table, lacks a column, has a new category, or has missing cells that are
            not imputed.
        """
        check_is_fitted(self)
        table = as_table(X)
        columns = [table.column(part.name) for part in self._parts]
        points = encode(self._parts, columns, impute=self.missing == "impute")
        check_complete(table, columns, np.isfinite(points).all(axis=1))
        return points

    def get_feature_names_out(self, input_features: None = None) -> NDArray[np.object_]:
        """Return the names of the coordinates, such as "age" and "color=red".

        Parameters
        ----------
        input_features : None
            Ignored; accepted for the interface of scikit-learn.

        Returns
        -------
        (d,) array of str
            In the order of the coordinates.
        """
        check_is_fitted(self)
        return np.array([name for part in self._parts for name in part.names], dtype=object)
