"""Numbers of an independent, slower implementation of the same accountant.

Gaussian bits: delta 1e-6, 15 % of the spending for the leaves, smallest Delta on a fine grid.
Tables: delta 1e-6, the leaf noise of the Gaussian row; best of twelve designs.
"""

# (trees, questions per tree, epsilon, sigma, Delta, sigma of the leaves)
GAUSSIAN_BITS = [
    (10, 5, 0.1, 228.033, 1283.51, 304.254),
    (10, 5, 8.0, 4.1276, 22.9338, 5.50727),
    (10, 6, 1.0, 29.0639, 163.904, 35.3999),
    (10, 7, 4.0, 8.87523, 50.0715, 10.0082),
    (30, 5, 0.5, 87.2462, 506.856, 116.409),
    (30, 6, 2.0, 26.4519, 154.067, 32.2185),
    (30, 6, 8.0, 7.76043, 44.9236, 9.45222),
    (30, 7, 1.0, 54.0795, 316.941, 60.9828),
    (50, 6, 8.0, 9.99958, 58.7856, 12.1795),
    (50, 7, 0.1, 599.355, 3576.2, 675.864),
    (100, 5, 4.0, 23.5425, 140.945, 31.4117),
    (100, 7, 1.0, 98.5173, 597.457, 111.093),
]

# (trees, questions per tree, epsilon, sigma of the leaves, midpoint - c0 - 1)
TABLES = [
    (30, 7, 1.0, 60.9828, 149),
    (30, 7, 4.0, 17.2417, 43),
    (30, 7, 8.0, 9.44631, 24),
    (10, 6, 1.0, 35.3999, 93),
    (50, 7, 2.0, 41.524, 97),
]

# Depths that have so many questions per tree.
DEPTH = {5: 16, 6: 63, 7: 100}
