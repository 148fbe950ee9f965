"""
Which kinds of customers are there?
===================================

A table with three numbers of different units and a category. The numbers are standardized, amounts
of money by their logarithms, and the category counts a little.
"""

import kdegraph
import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(0)
kinds = {  # age, income, visits in a month
    "students": (23, 14_000, 12),
    "families": (41, 52_000, 5),
    "retired": (70, 31_000, 9),
}
rows, truth = [], []
for number, (age, income, visits) in enumerate(kinds.values()):
    for _ in range(120):
        rows.append([rng.normal(age, 4), income * rng.lognormal(0, 0.25), rng.poisson(visits)])
        truth.append(number)
rows, truth = np.array(rows), np.array(truth)
shop = rng.choice(["center", "suburb"], len(rows))

# %%
# One table of comparable columns. A different shop is worth 0.3 standard deviations of a number.

numbers = rows.copy()
numbers[:, 1] = np.log10(numbers[:, 1])
shops = OneHotEncoder(sparse_output=False).fit_transform(shop[:, None])
X = np.hstack([StandardScaler().fit_transform(numbers), 0.3 * shops])
model = kdegraph.KDESpectralClustering(random_state=0).fit(X)
print(f"{model.n_clusters_} kinds of customers, with a confidence of {model.confidence_:.2f}")

# %%
# What the clusters are, in the units of the table:

for cluster in range(model.n_clusters_):
    age, income, visits = np.median(rows[model.labels_ == cluster], axis=0)
    print(f"cluster {cluster}: {age:.0f} years, income {income:,.0f}, {visits:.0f} visits")

figure, axes = plt.subplots(figsize=(6, 3.6))
axes.scatter(rows[:, 0], rows[:, 1], c=model.labels_, s=4 * rows[:, 2] + 4, cmap="tab10", vmax=9)
axes.set_yscale("log")
axes.set_xlabel("age in years")
axes.set_ylabel("income")
axes.set_title("size: visits in a month", fontsize=10)
figure.tight_layout()
