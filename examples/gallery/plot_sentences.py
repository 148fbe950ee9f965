"""
What are these messages about?
==============================

Short messages to a bank, as vectors of word weights, clustered by the angles between them. With the
vectors of a language model the code after the first step is the same.
"""

import itertools

import kdegraph
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

phrases = {
    "cards": (
        ["my card", "the new card", "a credit card"],
        ["has not arrived", "was stolen", "is blocked", "does not work in the machine"],
    ),
    "transfers": (
        ["my transfer", "a payment abroad", "the standing order"],
        ["is pending", "was sent twice", "went to the wrong account", "takes too long"],
    ),
    "passwords": (
        ["my password", "the PIN for the app", "the login code"],
        ["is forgotten", "is refused", "should be changed", "never comes by mail"],
    ),
}
openings = ["hello,", "please help,", "why is it that", "I think"]
messages, truth = [], []
for topic, (subjects, verbs) in phrases.items():
    for words in itertools.product(openings, subjects, verbs):
        messages.append(" ".join(words))
        truth.append(topic)

# %%
# Words that occur everywhere weigh little. A few dimensions are enough for a few topics.

vectors = make_pipeline(TfidfVectorizer(), TruncatedSVD(5, random_state=0)).fit_transform(messages)
model = kdegraph.KDESpectralClustering(3, metric="cosine", random_state=0).fit(vectors)

print(f"agreement with the topics: {adjusted_rand_score(truth, model.labels_):.2f}")

# %%
# The message that is most typical of a cluster has the largest kernel degree in it.

for cluster in range(3):
    members = np.flatnonzero(model.labels_ == cluster)
    typical = members[np.argmax(model.graph_.kernel_degrees[members])]
    print(f"{len(members)} messages such as: {messages[typical]}")

places = kdegraph.graph_layout(model.graph_, seed=0)
figure, axes = plt.subplots(figsize=(5.5, 3.8))
for cluster in range(3):
    axes.scatter(*places[model.labels_ == cluster].T, s=12, label=f"cluster {cluster}")
axes.legend(fontsize=8)
axes.set_axis_off()
figure.tight_layout()
