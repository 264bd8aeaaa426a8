"""RheoSampling's claims in miniature: a small pair of models trained here, decoded by every method, beside the paper.

    settings    sizes of a run: full, quick         text        docstrings of the standard library
    vocabulary  subwords, trained on them           training    a target, and a drafter that learns from it
    models      both, trained once and kept         cells       methods at temperatures, and their prompts
    pieces      the unit of work, and its tallies   measuring   a piece by real decoding
    ledger      finished pieces, to go on from      coverage    the drafter's top 128
    trees       trees at common contexts, T -> 0    intervals   paired, with prompts as clusters
    evidence    tallies as intervals                paper       what the paper reports
    claims      questions, answers, verdicts        result      what a run comes back with
    run         all of it in order

Everything is a value; `rheocheck.report` prints and plots it. Needs the extra `bench`. Only `run`, and what it imports,
loads torch.
"""
