import csv

import matplotlib.pyplot as plt

with open("../results/history.csv", newline="") as file:
    rows = list(csv.DictReader(file))
figure, axes = plt.subplots(figsize=(7, 3.4))
for name in list(rows[0])[2:]:
    known = [row for row in rows if row[name]]
    commits, times = zip(*((int(row["commits"]), float(row[name])) for row in known), strict=True)
    axes.semilogy(commits, times, "o-", ms=3, label=name)
axes.set_xlabel("commits")
axes.set_ylabel("time / time of the last one")
axes.set_yticks(ticks := [0.5, 1, 2, 5, 10, 20], labels=ticks)
axes.minorticks_off()
axes.grid(color="#ddd")
axes.legend(fontsize=8, frameon=False)
figure.tight_layout()
