(** What the headline theorems assume. Every line of output must read "Closed under the global context". *)
From rheocheck Require Import statements.
Print Assumptions one_draft_exact.
Print Assumptions matching_node_exact.
Print Assumptions recursive_node_exact.
Print Assumptions rheo_node_exact.
Print Assumptions one_hot_collapse.
Print Assumptions no_tilt.
Print Assumptions path_product.
Print Assumptions matching_any_tree.
Print Assumptions next_slot_is_predictable.
Print Assumptions survival_is_blind.
Print Assumptions frontier_survival_is_blind.
Print Assumptions survivors_are_a_slot_prefix.
Print Assumptions blind_ranking_is_lossless.
Print Assumptions rheo_sampling_is_lossless.
Print Assumptions rheo_sampling_with_recursive.
Print Assumptions rheo_sampling_with_rheo.
Print Assumptions top_k_is_lossless.
Print Assumptions rheo_sampling_over_cycles.
Print Assumptions recursive_over_cycles.
